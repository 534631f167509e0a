import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentKind } from '../../../src/web/model/documents/document-kinds.ts'
import {
  abandonedAttempts,
  canRetry,
  groupStates,
  hasExpiredLease,
  isInGroup,
  mergeDocuments,
  type QueuedDocument,
} from '../../../src/web/model/documents/document-queue.ts'
import { formatDuration } from '../../../src/web/model/durations.ts'
import { QUEUE_GROUPS } from '../../../src/web/model/fragment.ts'

const NOW = Date.parse('2026-11-23T03:00:00Z') // 21:00 of the 22nd in Costa Rica
const FINISHED = '2026-11-22T20:00:00Z'

const DOCUMENTS = {
  new: row('new', {}),
  working: row('claimed', { lease_until: '2026-11-23T03:00:01Z' }),
  late: row('claimed', { lease_until: '2026-11-23T03:00:00Z' }),
  'without a lease': row('claimed', {}), // a single document is answered without it
  done: row('done', { finished_at: FINISHED }),
  'done yesterday': row('done', { finished_at: '2026-11-22T05:59:59Z' }),
  failed: row('failed', { finished_at: FINISHED }),
}

test('groups of the queue divide documents by state, end of the lease and day in Costa Rica', () => {
  const namesInGroup = (group: (typeof QUEUE_GROUPS)[number] | '') =>
    Object.entries(DOCUMENTS).flatMap(([name, one]) => (isInGroup(one, group, NOW) ? [name] : []))
  assert.deepEqual(namesInGroup(''), Object.keys(DOCUMENTS))
  assert.deepEqual(namesInGroup('waiting'), ['new', 'late'])
  assert.deepEqual(namesInGroup('working'), ['working', 'without a lease'])
  assert.deepEqual(namesInGroup('failed'), ['failed'])
  assert.deepEqual(namesInGroup('done'), ['done', 'done yesterday'])
  assert.deepEqual(namesInGroup('today'), ['done'])
})

test('each document of a group is in a state that the API searches for the group', () => {
  for (const group of QUEUE_GROUPS)
    for (const [name, one] of Object.entries(DOCUMENTS))
      if (isInGroup(one, group, NOW)) assert.ok(groupStates(group).includes(one.state), `${group}: ${name}`)
  assert.deepEqual(groupStates(''), [])
})

test('failed documents and those without a lease can be retried', () => {
  const names = Object.entries(DOCUMENTS).flatMap(([name, one]) => (canRetry(one, NOW) ? [name] : []))
  assert.deepEqual(names, ['late', 'failed'])
  assert.equal(hasExpiredLease(DOCUMENTS.done, NOW), false)
})

test('abandonedAttempts reads the note of the server alone', () => {
  assert.equal(abandonedAttempts('Given up: claimed 5 times and never finished'), 5)
  for (const note of [null, '', 'Given up', 'x Given up: claimed 5 times and never finished'])
    assert.equal(abandonedAttempts(note), undefined)
})

test('mergeDocuments replaces rows of the same id, and sorts from the newest', () => {
  const rows = [9, 5, 2].map((id) => ({ id, text: 'old' }))
  assert.deepEqual(
    mergeDocuments(
      rows,
      [7, 5, 11].map((id) => ({ id, text: 'new' })),
    ).map(({ id, text }) => `${id} ${text}`),
    ['11 new', '9 old', '7 new', '5 new', '2 old'],
  )
})

test('documentKind names kinds in words of people', () => {
  const office = 'application/vnd.openxmlformats-officedocument'
  const kinds = [
    ['a.pdf', 'application/pdf', 'PDF'],
    ['a.exe', 'Application/PDF; x=1', 'PDF'],
    ['a.xml', 'application/xml', 'XML'],
    ['a.xml', 'text/xml', 'XML'],
    ['a.svg', 'image/svg+xml', 'XML'],
    ['a.jpg', 'image/jpeg', 'photo'],
    ['a.docx', `${office}.wordprocessingml.document`, 'Word'],
    ['a.doc', 'application/msword', 'Word'],
    ['a.xlsx', `${office}.spreadsheetml.sheet`, 'Excel'],
    ['a.csv', 'text/csv', 'CSV'],
    ['a.txt', 'text/plain; charset=utf-8', 'text'],
    ['a.md', 'text/markdown', 'text'],
    ['a.zip', 'application/zip', 'ZIP'],
    ['sin-final', 'application/octet-stream', 'STRE'],
    ['sin-final', '', '?'],
  ]
  for (const [name = '', type = '', kind] of kinds) {
    const { word, letters } = documentKind(name, type)
    assert.equal(word ?? letters, kind, `${name} ${type}`)
  }
})

test('formatDuration writes the largest unit, and whole ones', () => {
  const seconds = [-5, 59, 60, 38 * 60 + 59, 7199, 7200, 47 * 3600, 48 * 3600]
  const write = (language: 'es' | 'en', display: 'short' | 'long') =>
    seconds.map((one) => formatDuration(one, language, display).replaceAll('\u00a0', ' '))
  assert.deepEqual(write('es', 'long'), [
    ...[
      '0 segundos',
      '59 segundos',
      '1 minuto',
      '38 minutos',
      '119 minutos',
      '2 horas',
      '47 horas',
      '2 días',
    ],
  ])
  assert.deepEqual(write('en', 'short'), [
    ...['0 sec', '59 sec', '1 min', '38 min', '119 min', '2 hr', '47 hr', '2 days'],
  ])
})

function row(state: QueuedDocument['state'], facts: Partial<QueuedDocument>): QueuedDocument {
  return { id: 1, state, finished_at: null, ...facts }
}
