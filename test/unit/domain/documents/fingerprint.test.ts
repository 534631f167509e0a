import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Batch } from '../../../../src/domain/documents/uploads/checks.ts'
import { computeFingerprint } from '../../../../src/domain/documents/uploads/fingerprint.ts'

const FILES = [
  { name: 'factura "1".xml', mimetype: 'application/xml', blob: 0 },
  { name: 'año.pdf', mimetype: 'application/pdf', blob: 1 },
]
const LIST = '["factura \\"1\\".xml","application/xml","aa"],["año.pdf","application/pdf","bb"]'

// An upload is repeated within a day, and a server may be upgraded in between.
for (const [options, text] of [
  [{}, `[1,2,3,[${LIST}]]`],
  [{ priority: 0 }, `[1,2,3,[${LIST}]]`],
  [{ priority: 7 }, `[1,2,3,[${LIST}],7]`],
  [{ duplicates: { agentId: null, creator: 'test', showsIds: true } }, `[1,2,3,[${LIST}],"refuse"]`],
] satisfies [Partial<Batch>, string][]) {
  test(`a fingerprint with ${JSON.stringify(options)} is that of 1.0.0`, async () => {
    const blobs = { at: (index: number) => ({ sha256: ['aa', 'bb'][index] }) }
    const parties = { companyId: 1, agentId: 2, ownerId: 3 }
    const batch = { ...parties, ...options, files: FILES, blobs } as unknown as Batch
    assert.equal(await computeFingerprint(batch), createHash('sha256').update(text).digest('hex'))
  })
}
