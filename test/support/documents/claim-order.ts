// The order of claims, checked after a run of the model (claim-workers.ts). Documents that were
// new all the time are claimed by priority, then by age (decisions#claims).

import assert from 'node:assert/strict'

export type Ranked = { id: number; agent_id: number; priority?: number; attempts: number }
/** Instants of a request and its answer, in milliseconds. */
export type Interval = { sent: number; received: number }
type Answer = Interval & { agentIds: readonly number[]; isFull: boolean; last: Ranked | undefined }

export type ClaimOrder = {
  /** Answers of claims. */
  answers: Answer[]
  /** Claims whose answer was lost: they may have locked any document. */
  losses: Interval[]
  /** The first claim of each document. */
  firsts: Map<number, Interval & { row: Ranked }>
}

export function createClaimOrder(): ClaimOrder {
  return { answers: [], losses: [], firsts: new Map() }
}

export function recordOrder(
  { answers, firsts }: ClaimOrder,
  { agent_ids: agentIds, limit }: { agent_ids: readonly number[]; limit: number },
  documents: readonly Ranked[],
  interval: Interval,
): void {
  const ranks = documents.map(toRank)
  assert.deepEqual(ranks.toSorted(compareRanks), ranks, 'the documents of an answer are in order')
  answers.push({ ...interval, agentIds, isFull: documents.length === limit, last: documents.at(-1) })
  for (const row of documents) if (row.attempts === 1) firsts.set(row.id, { ...interval, row })
}

/** Returns the number of comparisons. Documents were all there before the first claim. */
export function checkOrder({ answers, losses, firsts }: ClaimOrder): number {
  let count = 0
  const late = [...firsts.values()].sort((one, other) => other.sent - one.sent)
  for (const { agentIds, sent, received, isFull, last } of answers) {
    if (losses.some((lost) => lost.sent < received && sent < lost.received)) continue
    for (const { row, sent: firstSent } of late) {
      if (firstSent <= received) break
      if (!agentIds.includes(row.agent_id)) continue
      count += 1
      const isLater = isFull && last !== undefined && compareRanks(toRank(row), toRank(last)) > 0
      assert.ok(isLater, `document ${row.id} was passed over by a claim of ${agentIds} that took ${last?.id}`)
    }
  }
  return count
}

function toRank({ priority = 0, id }: Ranked): [number, number] {
  return [-priority, id]
}

function compareRanks(one: readonly [number, number], other: readonly [number, number]): number {
  return one[0] - other[0] || one[1] - other[1]
}
