// Signing out in an open network, where the page shows rates without a session.

import assert from 'node:assert/strict'
import { test } from 'node:test'

const storage = new Map<string, string>()
const localStorage = {
  getItem: (key: string) => storage.get(key) ?? null,
  setItem: (key: string, value: string) => storage.set(key, value),
  removeItem: (key: string) => storage.delete(key),
}
const document = { documentElement: { dataset: { open: '' } } }
Object.assign(globalThis, { localStorage, document, addEventListener() {}, removeEventListener() {} })
const organization = { name: 'Ferretería S. A.', tax_id: '3-101-123456' }
globalThis.fetch = async (_, { method } = {}) =>
  method === 'DELETE' ? new Response(null, { status: 204 }) : Response.json({ open: true, organization })

const WEB = '../../../../src/web' // a part of paths, so that no types of a browser are needed here
const { session } = await import(`${WEB}/api/session.ts`)
const { signOut } = await import(`${WEB}/api/sign-in.ts`)
const { addPositions, positions } = await import(`${WEB}/rates/differential/positions.ts`)
const { addUploads, uploads } = await import(`${WEB}/documents/sending/upload-queue.ts`)
const { listState, setList } = await import(`${WEB}/rates/list/list-state.ts`)

test('signOut in an open network removes positions, the pasted list and the files that are sent', async () => {
  const position = { type: 'asset', balance: '1500', currency: 'EUR', day: '2026-03-01' } as const
  addPositions([{ ...position, detail: 'Proveedor' }])
  setList({ text: 'EUR 1500' })
  addUploads([new File([], 'vacía.xlsx')], { company: 7, agent: 12, owner: 31 })
  assert.equal(uploads.value.length, 1)
  await signOut()
  assert.equal(session.value.state, 'open')
  assert.deepEqual([positions.value, listState.value.text, storage.size], [[], '', 0])
  assert.deepEqual(uploads.value, [])
  addPositions([{ ...position, detail: 'Banco' }])
  assert.deepEqual(
    positions.value.map(({ detail }: { detail: string }) => detail),
    ['Banco'],
  )
})

test('signOut in an open network loads the organization of certificates', async () => {
  await signOut()
  assert.deepEqual(session.value, { state: 'open', organization })
})
