// Backups beside the running server, each verified. The last one is restored, and compared with the box.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { openTestDatabase } from '../../temporary.ts'
import { count, fault, type Soak } from '../world.ts'
import type { Box } from './box.ts'

const LOOK_MS = 250

/** Makes a backup each `everyMs` until the soak is over. */
export async function makeBackups(soak: Soak, box: Box, everyMs: number): Promise<void> {
  let next = performance.now() + everyMs
  while (!soak.isOver) {
    await wait(LOOK_MS)
    if (performance.now() < next) continue
    next = performance.now() + everyMs
    await makeBackup(soak, box)
  }
}

async function makeBackup(soak: Soak, box: Box): Promise<void> {
  const set = join(box.home, 'backups')
  await box.command('backup', 'create', set)
  await box.command('backup', 'verify', set)
  count(soak, 'backups verified')
}

/** Backs up the settled box, restores that, and compares each document. */
export async function checkRestore(soak: Soak, box: Box, db: WriteDb): Promise<void> {
  await makeBackup(soak, box)
  const dataDir = join(box.home, 'restored')
  await box.command('backup', 'restore', join(box.home, 'backups'), '--data-dir', dataDir)
  const restored = openTestDatabase(dataDir)
  try {
    assert.deepEqual(await selectDocumentRows(restored), await selectDocumentRows(db))
    count(soak, 'documents restored', (await selectDocumentRows(restored)).length)
  } catch (error) {
    fault(soak, `restore: ${error}`)
  } finally {
    await restored.destroy()
  }
}

function selectDocumentRows(db: WriteDb) {
  return db
    .selectFrom('documents')
    .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
    .select(['documents.id', 'documents.name', 'sha256', 'company_id', 'agent_id', 'state', 'claim_id'])
    .orderBy('documents.id')
    .execute()
}
