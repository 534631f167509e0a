// Second opinions on the dollar: the requests of a day, and the newest answer of each source.

import type { OpinionSide } from '../../providers/provider.ts'
import type { ReadDb, WriteDb } from '../tables.ts'

/** Instants are RFC 3339. */
export type StoredOpinion = {
  /** Day of the last request, in Costa Rica, and the number of its requests. */
  day: string
  requests: number
  /** End of a pause that the source requested. */
  silentUntil?: string
  /** Newest answer. Without sides, this machine answered in place of the source. */
  answer?: { host: string; at: string; sides: OpinionSide[] } | undefined
}

/** Returns undefined for a source that was never requested. */
export async function findOpinion(db: ReadDb, source: string): Promise<StoredOpinion | undefined> {
  const query = db.selectFrom('second_opinions').select('state').where('source', '=', source)
  const row = await query.executeTakeFirst()
  return row && JSON.parse(row.state)
}

/** Stores the state of a source. */
export async function upsertOpinion(db: WriteDb, source: string, opinion: StoredOpinion): Promise<void> {
  const state = JSON.stringify(opinion)
  await db
    .insertInto('second_opinions')
    .values({ source, state })
    .onConflict((on) => on.column('source').doUpdateSet({ state }))
    .execute()
}
