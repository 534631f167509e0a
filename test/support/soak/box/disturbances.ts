// Slow disk and absent bank, each for a while. The disk is slow for one process: strace delays its flushes.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { BankFault } from '../../../../src/demo/bank.ts'
import { LONG } from '../../../faults/scale.ts'
import { until } from '../../terminal.ts'
import { count, fault, type Soak } from '../world.ts'
import type { Surroundings } from './surroundings.ts'

export const SLOW_DISK = 'flushes of the slow disk'
/** Counted where no disk can be slowed. */
export const WITHOUT_SLOW_DISK = 'strace may not attach'
const FLUSH_MS = 60
const STARTED_MS = 1000
const AWAY: readonly BankFault[] = [
  'reset',
  { status: 503, body: '' },
  { status: 500, body: '<html>' },
  'cut',
]

/**
 * Each flush of the process takes FLUSH_MS longer for `ms`, and for at least one. The short form goes on where strace
 * may not attach, as in a container. @throws without strace
 */
export async function slowDisk(soak: Soak, pid: number, ms: number): Promise<void> {
  const inject = `inject=fsync,fdatasync:delay_enter=${FLUSH_MS * 1000}`
  const words = ['-f', '-qq', '-p', String(pid), '-e', 'trace=fsync,fdatasync', '-e', inject]
  const tracer = spawn('strace', words, { stdio: ['ignore', 'ignore', 'pipe'] })
  const closing = once(tracer, 'close')
  let flushes = 0
  let lastOutput = ''
  tracer.stderr.on('data', (data) => {
    lastOutput = String(data)
    flushes += lastOutput.match(/\(DELAYED\)/g)?.length ?? 0
  })
  await Promise.race([wait(STARTED_MS), closing])
  if (!LONG && /Operation not permitted/.test(lastOutput)) return count(soak, WITHOUT_SLOW_DISK)
  assert.equal(tracer.exitCode, null, `strace: ${lastOutput}`)
  soak.isHealthy = false // an upload that waits for others is a 503
  await wait(Math.max(0, ms - STARTED_MS))
  await until(() => flushes > 0 || soak.isOver)
  tracer.kill('SIGINT') // detaches
  await closing
  await wait(STARTED_MS)
  soak.isHealthy = true
  count(soak, SLOW_DISK, flushes)
}

/** The bank fails in several ways for `ms`, and for at least one `sync`, which must fail. */
export async function loseBank(soak: Soak, { bank, box }: Surroundings, ms: number): Promise<void> {
  const end = performance.now() + ms
  let requests = 0
  bank.faults = () => {
    requests += 1
    return soak.random.item(AWAY)
  }
  while (requests === 0 && !soak.isOver) {
    const exit = await box.program('sync').waitForExit()
    if (exit === 0) fault(soak, '`sync` ended well without a bank')
  }
  await wait(Math.max(0, end - performance.now()))
  bank.faults = undefined
  count(soak, 'requests to the absent bank', requests)
}
