// Who may ask. Keys are compared by their SHA-256: what an attacker could learn from the time a look-up takes
// is about a hash that they cannot steer. The set of hashes is held in memory and renewed when keys change.

import { hash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../dates.ts'
import { AppError } from '../errors.ts'
import { selectActiveApiKeyHashes, updateApiKeysUsed } from '../store/api-keys.ts'
import type { Db } from '../store/tables.ts'

export type Keyring = {
  /** @throws AppError `unauthorized` unless the key is an active one */
  check(key: string | null): void
  /** Reads the keys again, after another process changed them. */
  refresh(): Promise<void>
  /** Writes down which keys were used since the last time. */
  recordUse(): Promise<void>
}

const MAX_KEY_LENGTH = 200

export async function openKeyring(db: Db, clock: Clock): Promise<Keyring> {
  let keys = await readKeys(db)
  let used = new Set<number>()
  return {
    check(key) {
      const digest = key && key.length <= MAX_KEY_LENGTH ? hash('sha256', key, 'buffer') : undefined
      const known = digest && keys.get(digest.toString('base64'))
      if (!known || !timingSafeEqual(known.digest, digest)) {
        throw new AppError('unauthorized', 'Missing or invalid API key')
      }
      used.add(known.id)
    },
    async refresh() {
      keys = await readKeys(db)
    },
    async recordUse() {
      if (used.size === 0) return
      const ids = [...used]
      used = new Set()
      await updateApiKeysUsed(db, ids, clock().toISOString())
    },
  }
}

async function readKeys(db: Db): Promise<Map<string, { id: number; digest: Buffer }>> {
  const rows = await selectActiveApiKeyHashes(db)
  return new Map(
    rows.map((row) => {
      const digest = Buffer.from(row.hash, 'hex')
      return [digest.toString('base64'), { id: row.id, digest }]
    }),
  )
}
