// The queue of uploads, without a browser: one file at a time, and the ends of the list.

import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { until } from '../../../support/terminal.ts'

/** Answers of the server, which the tests give. */
let answers: (() => void)[]

class FakeRequest {
  readonly upload = {}
  status = 0
  responseText = ''
  onload = () => {}
  onabort = () => {}
  open() {}
  setRequestHeader() {}
  abort() {
    this.onabort()
  }
  send() {
    const id = answers.length + 1
    answers.push(() => {
      Object.assign(this, { status: 200, responseText: JSON.stringify({ created_documents: [{ id }] }) })
      this.onload()
    })
  }
}

class FakeReader {
  readonly result = 'data:text/plain;base64,eA=='
  error: unknown
  onload = () => {}
  onerror = () => {}
  readAsDataURL(piece: Blob) {
    piece.text().then(this.onload, (error) => {
      this.error = error
      this.onerror()
    })
  }
}

const localStorage = { getItem: () => null, setItem() {}, removeItem() {} }
const document = { documentElement: { dataset: {} } }
Object.assign(globalThis, { localStorage, document, addEventListener() {}, removeEventListener() {} })
Object.assign(globalThis, { XMLHttpRequest: FakeRequest, FileReader: FakeReader })

const WEB = '../../../../src/web' // a part of paths, so that no types of a browser are needed here
const { session } = await import(`${WEB}/api/session.ts`)
const { addUploads, removeUpload, uploads } = await import(`${WEB}/documents/sending/upload-queue.ts`)

const TARGET = { company: 7, agent: 12, owner: 31 }
const FACTS = { state: 'in', key: null, token: { name: 'facturas' }, person: 'Ana', organization: null }

beforeEach(() => {
  for (const { key } of uploads.value) removeUpload(key)
  answers = []
  session.value = FACTS
})

const add = (...names: string[]): void =>
  addUploads(
    names.map((name) => new File(['x'], name)),
    TARGET,
  )
const states = (): string[] => uploads.value.map(({ state }: { state: string }) => state)

test('files are sent one after another, and a removed one is followed by the next', async () => {
  add('uno.txt', 'dos.txt', 'tres.txt')
  await until(() => answers.length === 1)
  removeUpload(uploads.value[0].key)
  await until(() => answers.length === 2)
  assert.deepEqual(states(), ['reading', 'waiting'])
  answers[1]?.()
  await until(() => answers.length === 3)
  answers[2]?.()
  await until(() => String(states()) === 'done,done')
})

test('a file that cannot be read is named so, and the next one is sent', async () => {
  const file = new File(['x'], 'lost.txt')
  file.slice = () => ({ text: () => Promise.reject(new Error('NotReadableError')) }) as unknown as File
  addUploads([file, new File(['x'], 'dos.txt')], TARGET)
  await until(() => answers.length === 1)
  answers[0]?.()
  await until(() => String(states()) === 'unreadable,done')
})

test('a session of another person or token drops the files, and an added key drops none', async () => {
  add('uno.txt', 'dos.txt')
  await until(() => answers.length === 1)
  session.value = { ...FACTS, key: { name: 'erp' } }
  session.value = { state: 'out', reason: 'ended', end: undefined }
  session.value = FACTS
  assert.deepEqual(states(), ['reading', 'waiting'])
  session.value = { ...FACTS, person: 'Luis' }
  assert.deepEqual(states(), [])
  add('tres.txt')
  session.value = { ...FACTS, person: 'Luis', token: { name: 'otra' } }
  assert.deepEqual(states(), [])
})
