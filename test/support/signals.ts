// Signals to processes that may have ended since their ids were read, which is no error.

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Freezes processes; the returned function resumes them, once. */
export function freezeProcesses(pids: readonly number[]): () => void {
  const frozenPids = [...pids]
  for (const pid of frozenPids) signal(pid, 'SIGSTOP')
  return () => {
    for (const pid of frozenPids.splice(0)) signal(pid, 'SIGCONT')
  }
}
