//! Windows: a job object for each engine. The system ends all processes of a job with its last handle, which it closes
//! when this program ends for any reason.
//!
//! ```text
//!  CreateJobObject, limit KILL_ON_JOB_CLOSE
//!  CreateProcess, suspended ──> AssignProcessToJobObject ──> NtResumeProcess: descendants begin in the job
//! ```
//! A program that is killed between the second and the third call leaves a suspended process.

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, Command};
use std::ptr::null;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::Media::{timeBeginPeriod, timeEndPeriod};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectExtendedLimitInformation, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, CREATE_SUSPENDED, GetCurrentProcess,
    GetCurrentThread, GetProcessAffinityMask, GetThreadGroupAffinity, INFINITE,
    SetProcessAffinityMask, WaitForSingleObject,
};

use super::{Process, ProcessState, Signal};
use crate::exit::JOB_EXIT_CODE;
use crate::sync::lock;

#[expect(unsafe_code, reason = "not in the headers of the SDK, but exported since Windows XP")]
#[link(name = "ntdll")]
unsafe extern "system" {
    /// Resumes all threads of a process.
    fn NtResumeProcess(process: HANDLE) -> i32;
}

/// A job object with an engine and all its descendants. Dropping it kills them.
#[derive(Debug)]
pub(crate) struct Job {
    handle: OwnedHandle,
    _timers: TimerResolution,
}

/// Timers of this program have a resolution of one millisecond while an engine runs. The default of 16 milliseconds would
/// delay timeouts of engines.
#[derive(Debug)]
struct TimerResolution;

impl TimerResolution {
    #[expect(unsafe_code, reason = "no safe interface in the standard library")]
    fn raise() -> Self {
        // SAFETY: the function has no preconditions. A failure leaves the resolution as it is.
        unsafe { timeBeginPeriod(1) };
        Self
    }
}

impl Drop for TimerResolution {
    #[expect(unsafe_code, reason = "no safe interface in the standard library")]
    fn drop(&mut self) {
        // SAFETY: the function has no preconditions. The system counts the calls of both functions.
        unsafe { timeEndPeriod(1) };
    }
}

impl Job {
    /// Starts a command as a member of a new job, with the CPUs of this thread.
    pub(super) fn start(command: &mut Command, has_console: bool) -> io::Result<(Self, Child)> {
        let job = Self::new()?;
        let console = if has_console {
            // The console of this program, whose Ctrl-C does not reach another process group.
            CREATE_NEW_PROCESS_GROUP
        } else {
            // An application without a console would open one for each engine.
            CREATE_NO_WINDOW
        };
        let mut child = command.creation_flags(CREATE_SUSPENDED | console).spawn()?;
        let process = child.as_handle();
        let started = job
            .assign(process)
            .and_then(|()| bind_to_cpus_of_thread(process))
            .and_then(|()| resume(process));
        if let Err(error) = started {
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
        Ok((job, child))
    }

    #[expect(unsafe_code, reason = "no safe interface in the standard library")]
    fn new() -> io::Result<Self> {
        // SAFETY: null attributes and a null name are allowed.
        let handle = unsafe { CreateJobObjectW(null(), null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle was just created and has no other owner.
        let handle = unsafe { OwnedHandle::from_raw_handle(handle) };
        let job = Self { handle, _timers: TimerResolution::raise() };
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        // The second flag suppresses the dialog of a crashed engine.
        limits.BasicLimitInformation.LimitFlags =
            JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
        let size = u32::try_from(size_of_val(&limits)).map_err(io::Error::other)?;
        let limits = (&raw const limits).cast::<c_void>();
        let class = JobObjectExtendedLimitInformation;
        // SAFETY: the handle is open, and `limits` points to a structure of this class with this size.
        check(unsafe { SetInformationJobObject(job.handle.as_raw_handle(), class, limits, size) })?;
        Ok(job)
    }

    #[expect(unsafe_code, reason = "no safe interface in the standard library")]
    fn assign(&self, process: BorrowedHandle<'_>) -> io::Result<()> {
        // SAFETY: both handles are open.
        check(unsafe {
            AssignProcessToJobObject(self.handle.as_raw_handle(), process.as_raw_handle())
        })
    }

    #[expect(unsafe_code, reason = "no safe interface in the standard library")]
    fn kill(&self) {
        // Fails only without the right to do so, which the creator has.
        // SAFETY: the handle is open.
        unsafe { TerminateJobObject(self.handle.as_raw_handle(), JOB_EXIT_CODE) };
    }
}

fn check(success: i32) -> io::Result<()> {
    if success == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[expect(unsafe_code, reason = "no safe interface in the standard library")]
fn resume(process: BorrowedHandle<'_>) -> io::Result<()> {
    // SAFETY: the handle is open.
    let status = unsafe { NtResumeProcess(process.as_raw_handle()) };
    if status < 0 {
        return Err(io::Error::other(format!("the process cannot be resumed: {status:#010x}")));
    }
    Ok(())
}

/// Gives the CPUs of this thread to a suspended process, as Linux does: on Windows, only the affinity of a process is
/// inherited.
#[expect(unsafe_code, reason = "no safe interface in the standard library")]
fn bind_to_cpus_of_thread(process: BorrowedHandle<'_>) -> io::Result<()> {
    let mut thread = GROUP_AFFINITY::default();
    let (mut own, mut system) = (0, 0);
    // SAFETY: the pseudo handles are always valid, and the pointers are those of local variables of the right types.
    let known = unsafe {
        GetThreadGroupAffinity(GetCurrentThread(), &raw mut thread) != 0
            && GetProcessAffinityMask(GetCurrentProcess(), &raw mut own, &raw mut system) != 0
    };
    // A program with CPUs of several groups has an own mask of zero.
    if !known || thread.Mask == own || own == 0 {
        return Ok(());
    }
    // SAFETY: the handle is open.
    check(unsafe { SetProcessAffinityMask(process.as_raw_handle(), thread.Mask) })
}

#[expect(unsafe_code, reason = "waits without the lock that `Child::wait` requires")]
pub(super) fn wait_for_exit(process: &Process) {
    let process = lock(&process.state).child.as_handle().try_clone_to_owned();
    let Ok(process) = process else { return };
    // SAFETY: the handle is open. A failure is impossible with the rights of a parent.
    unsafe { WaitForSingleObject(process.as_raw_handle(), INFINITE) };
}

pub(super) fn has_exited(state: &mut ProcessState) -> bool {
    matches!(state.child.try_wait(), Ok(Some(_)))
}

/// There is no SIGTERM: an engine that has ignored `quit` and the end of its input is killed with its descendants.
pub(super) fn signal(_: &Process, state: &mut ProcessState, signal: Signal) {
    match signal {
        Signal::Terminate | Signal::Kill => state.scope.kill(),
    }
}

impl super::Scope {
    fn kill(&self) {
        let Self::Job(job) = self;
        job.kill();
    }
}

pub(crate) mod guard {
    use std::ffi::OsString;
    use std::io;
    use std::process::Command;
    use std::sync::{Arc, Mutex};

    use super::super::{Containment, ErrorOutput, Launched, remove_inherited};
    use crate::sync::lock;

    /// Ensures that no engine outlives this program. Job objects do this on Windows, for each engine, also without a
    /// guard: the guard has no process.
    ///
    /// # Guarantees
    ///
    /// An engine and all its descendants end when the engine exits, when its handle is dropped, and when the program
    /// ends or is killed.
    #[derive(Clone, Debug)]
    pub struct Guard(Arc<Mutex<Vec<OsString>>>);

    impl Guard {
        /// Starts nothing.
        ///
        /// # Errors
        /// None.
        pub fn start(_: Command) -> io::Result<Self> {
            Ok(Self(Arc::default()))
        }

        /// Does nothing.
        ///
        /// # Errors
        /// None.
        pub fn serve() -> io::Result<()> {
            Ok(())
        }

        /// Starts nothing.
        ///
        /// # Errors
        /// The method is not available ([`Unsupported`](io::ErrorKind::Unsupported)).
        #[doc(hidden)]
        pub fn start_with(command: Command, containment: Containment) -> io::Result<Self> {
            match containment {
                Containment::Job => Self::start(command),
                Containment::Group | Containment::Supervisor => {
                    Err(io::ErrorKind::Unsupported.into())
                }
            }
        }

        /// Hides environment variables of this program, such as passwords, from every process that is started with this
        /// guard from now on. A [`Command`] that sets such a variable itself still passes it.
        pub fn hide_variables(&self, names: impl IntoIterator<Item = impl Into<OsString>>) {
            lock(&self.0).extend(names.into_iter().map(Into::into));
        }

        /// The method of containment: job objects.
        #[doc(hidden)]
        pub fn containment(&self) -> Containment {
            Containment::Job
        }

        pub(crate) fn launch(
            &self,
            command: &mut Command,
            errors: Option<ErrorOutput>,
        ) -> io::Result<Launched> {
            remove_inherited(command, &lock(&self.0));
            Launched::directly(command, errors, Some(self))
        }
    }
}
