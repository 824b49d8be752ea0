/* The function of bcryptprimitives.dll that the standard library of Rust imports. Wine has the library since version 9. */
#include <windows.h>

/* RtlGenRandom, which the headers do not declare by its exported name. */
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length)
{
    const ULONG most = 1UL << 30;

    while (length > 0) {
        ULONG count = length < most ? (ULONG)length : most;

        if (!SystemFunction036(data, count))
            return FALSE;
        data += count;
        length -= count;
    }
    return TRUE;
}
