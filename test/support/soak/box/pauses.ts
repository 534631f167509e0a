// Pauses of /healthz, measured by a process of its own that requests a bare server at the same moments. A delay of the
// bare server, or of the process, is a delay of the machine.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'

/** Longest times in milliseconds, and the number of requests over 100 ms. */
export type PauseTimes = {
  probes: number
  health: number
  /** Of the bare server. */
  control: number
  /** Of the process that measures: the delay of its own timer. */
  prober: number
  /** Of `health` beyond what the machine explains at the same moment. */
  excess: number
  /** Probes whose excess is over 100 ms. */
  slow: number
  failed: number
}

export type PauseProbe = {
  /** Ends a period, and returns its times. */
  next(): Promise<PauseTimes>
}

/** Starts the measurement of a server, until the test ends. */
export function measureHealth(t: Pick<TestContext, 'after'>, url: string): PauseProbe {
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, 'health-probe.ts'), url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  return {
    async next() {
      child.stdin?.write('next\n')
      const { value, done } = await lines.next()
      if (done) throw new Error('the probe has ended')
      return JSON.parse(value) as PauseTimes
    },
  }
}
