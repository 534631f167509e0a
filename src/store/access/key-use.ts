// Use of keys: requests by day, and networks. Operators read it before they revoke a key.

import { addDays, type IsoDate } from '../../values/dates.ts'
import { engineSql } from '../engine.ts'
import { insertBatches } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

/** Requests of a key since the last record, and at most `MOST_NETWORKS` of their networks. */
export type KeyUse = { keyId: number; requests: number; networks: readonly string[] }

/** `requests`: of the last 30 days. `networks`: the newest, newest first. */
export type KeyUseSummary = { requests: number; networks: Omit<Row<'key_networks'>, 'key_id'>[] }

const DAYS = 30
/** Networks that are stored of each key. */
export const MOST_NETWORKS = 8

/**
 * Adds the use of keys, in the order of their ids, to their counters, inside the transaction of the caller. `day`: in
 * Costa Rica.
 */
export async function addKeyUse(
  trx: WriteDb,
  uses: readonly KeyUse[],
  { at, day }: { at: string; day: IsoDate },
): Promise<void> {
  const ids = uses.map(({ keyId }) => keyId)
  const keys = trx.selectFrom('api_keys').select('id').where('id', 'in', ids).orderBy('id')
  const rows = await engineSql(trx).lockRows(keys, 'update', ['api_keys']).execute() // nodes write in turn
  const knownIds = new Set(rows.map(({ id }) => id))
  const knownUses = uses.filter(({ keyId }) => knownIds.has(keyId)) // a restored database may lack some
  if (knownUses.length === 0) return
  await trx
    .insertInto('key_use')
    .values(knownUses.map(({ keyId, requests }) => ({ key_id: keyId, day, requests })))
    .onConflict((on) =>
      on.columns(['key_id', 'day']).doUpdateSet((of) => ({
        requests: of('key_use.requests', '+', of.ref('excluded.requests')),
      })),
    )
    .execute()
  await trx.deleteFrom('key_use').where('day', '<=', addDays(day, -DAYS)).execute()
  for (const { keyId, networks } of knownUses) await updateNetworks(trx, keyId, networks, at)
}

async function updateNetworks(
  trx: WriteDb,
  keyId: number,
  networks: readonly string[],
  at: string,
): Promise<void> {
  const before = await selectNetworks(trx).where('key_id', '=', keyId).execute()
  const others = before.filter(({ network }) => !networks.includes(network))
  const rest = others.slice(0, MOST_NETWORKS - networks.length)
  await trx.deleteFrom('key_networks').where('key_id', '=', keyId).execute()
  await insertBatches(trx, 'key_networks', [
    ...networks.map((network) => ({ key_id: keyId, network, last_used_at: at })),
    ...rest,
  ])
}

/** Selects the use of each key that has any. `day`: today in Costa Rica. */
export async function selectKeyUse(db: ReadDb, day: IsoDate): Promise<Map<number, KeyUseSummary>> {
  const sums = await db
    .selectFrom('key_use')
    .select(({ fn }) => ['key_id', fn.sum<number>('requests').as('requests')])
    .where('day', '>', addDays(day, -DAYS))
    .groupBy('key_id')
    .execute()
  const networks = await selectNetworks(db).execute()
  const byKey = Map.groupBy(networks, ({ key_id }) => key_id)
  const requests = new Map(sums.map(({ key_id, requests: sum }) => [key_id, Number(sum)]))
  return new Map(
    [...new Set([...requests.keys(), ...byKey.keys()])].map((id) => [
      id,
      {
        requests: requests.get(id) ?? 0,
        networks: (byKey.get(id) ?? []).map(({ network, last_used_at }) => ({ network, last_used_at })),
      },
    ]),
  )
}

function selectNetworks(db: ReadDb) {
  return db.selectFrom('key_networks').selectAll().orderBy('last_used_at', 'desc').orderBy('network')
}
