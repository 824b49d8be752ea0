/** Timeout of an expectation in milliseconds; shorter ones help to write tests. */
export const TIMEOUT = Number(process.env.READYOK_E2E_TIMEOUT ?? 60_000);
