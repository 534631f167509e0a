// Pauses of /healthz, measured by a process of its own that requests a bare server at the same moments. A delay of the
// bare server, or of the process, is a delay of the machine. So is a wait of the program for a processor. So is a slow
// flush of a small file: the program flushes its database where it answers requests.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'

/** Longest times in milliseconds, and numbers of requests. */
export type PauseTimes = {
  probes: number
  health: number
  /** Time of the bare server. */
  control: number
  /** Delay of the timer of the process that measures. */
  prober: number
  /** Time for which the main thread of the program waited for a processor. */
  waiting: number
  /** Time of a flush of 4 KiB on the disk of the data directory. */
  flush: number
  /** Part of `health` that the machine does not explain at the same moment. */
  excess: number
  /** Probes whose excess is over 100 ms. */
  slow: number
  failed: number
  /** Instants and durations of the first slow ones. */
  moments: string[]
}

export type PauseProbe = {
  /** Ends a period, and returns its times. */
  next(): Promise<PauseTimes>
  stop(): void
}

/** Measures a server until the test ends; `dir` is a directory on its disk. */
export function measureHealth(
  t: Pick<TestContext, 'after'>,
  server: { url: string; pid: number },
  dir: string,
): PauseProbe {
  const words = [join(import.meta.dirname, 'health-probe.ts'), server.url, String(server.pid), dir]
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    stop: () => void child.kill('SIGKILL'),
    async next() {
      child.stdin.write('next\n')
      const { value, done } = await lines.next()
      if (done) throw new Error('the probe has ended')
      return JSON.parse(value) as PauseTimes
    },
  }
}

/** Returns the times of two periods together. */
export function mergePauses(one: PauseTimes, other: PauseTimes): PauseTimes {
  const most = (part: 'health' | 'control' | 'prober' | 'waiting' | 'flush' | 'excess') =>
    Math.max(one[part], other[part])
  const sum = (part: 'probes' | 'slow' | 'failed') => one[part] + other[part]
  return {
    ...{ probes: sum('probes'), slow: sum('slow'), failed: sum('failed') },
    ...{ health: most('health'), control: most('control'), prober: most('prober') },
    ...{ waiting: most('waiting'), flush: most('flush'), excess: most('excess') },
    moments: [...one.moments, ...other.moments],
  }
}
