// A small disk with a data directory: a week of rates and a key.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startBank } from '../../src/demo/bank.ts'
import { addDays, currentDay } from '../../src/values/dates.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'
import { runCommand } from './terminal.ts'

const DISK = 24 * 1024 ** 2

export type RatesDisk = SmallDisk & { dataDir: string; key: string }

/** Mounts the disk, or returns the reason why it cannot. */
export async function openRatesDisk(t: TestContext): Promise<RatesDisk | { reason: string }> {
  const disk = mountSmallDisk(t, DISK)
  if ('reason' in disk) return disk
  const dataDir = join(disk.dir, 'data')
  const today = currentDay(() => new Date())
  const bank = await startBank({ token: 'secret', today: () => today })
  t.after(() => bank.close())
  const from = ['--from', addDays(today, -7), '--bccr-url', bank.url, '--bccr-pace', '0']
  const sync = await runCommand(['sync', '--data-dir', dataDir, ...from], { CAMBISTA_BCCR_TOKEN: 'secret' })
  assert.equal(sync.code, 0, sync.err)
  const { out } = await runCommand(['key', 'create', 'erp', '--data-dir', dataDir])
  return { ...disk, dataDir, key: out.trim() }
}
