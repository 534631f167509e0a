// Companies, agents and owners of the page, rendered without a browser: retries, and agents that are made later.

import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { until } from '../../../support/terminal.ts'
import { settle } from './settle.ts'

const localStorage = { getItem: () => null, setItem() {}, removeItem() {} }
const document = Object.assign(new EventTarget(), { documentElement: { dataset: {} } })
Object.assign(globalThis, { localStorage, document, addEventListener() {} })

// The page retries after 8 s.
const { setTimeout } = globalThis
let retries = 0
const shortTimeout = (end: () => void, ms = 0) => {
  if (ms < 8000) return setTimeout(end, ms)
  retries += 1
  return setTimeout(end, 20)
}
Object.assign(globalThis, { setTimeout: shortTimeout })

let status: number
let agents: { id: number; name: string }[]
let paths: string[]

globalThis.fetch = async (input) => {
  const { pathname } = new URL(String(input), 'http://localhost')
  paths.push(pathname)
  if (status !== 200) return Response.json({ message: 'busy' }, { status })
  const name = pathname.split('/').at(-1) ?? ''
  const lists: Record<string, object[]> = { companies: [{ id: 7, name: 'Ferretería' }], agents }
  return Response.json({ [name]: lists[name] ?? [{ id: 31, name: 'Ana' }], next_after: 0, has_more: false })
}

const [WEB, PREACT] = ['../../../../src/web', 'preact'] as string[] // paths without types of a browser
const { h, render } = await import(`${PREACT}`)
const { useState } = await import(`${PREACT}/hooks`)
const { useAgentNames, useDirectory } = await import(`${WEB}/documents/directory.ts`)
const { refreshAll } = await import(`${WEB}/components/use-api.ts`)

let result: ReturnType<typeof useDirectory> & ReturnType<typeof useAgentNames>
let setAgentIds: (ids: number[]) => void

const parent = {
  ...{ childNodes: [], firstChild: null, nodeType: 1, namespaceURI: '', ownerDocument: document },
  insertBefore() {},
  contains: () => true,
}

beforeEach(() => {
  status = 200
  agents = [{ id: 12, name: 'Lector' }]
  paths = []
})
afterEach(() => render(null, parent))

/** Renders a hook. @param ids agents of the documents in the list */
function open(hook: (documents: object[]) => typeof result, ids: number[] = []): void {
  const Component = () => {
    const [agentIds, set] = useState(ids)
    setAgentIds = set
    result = hook(agentIds.map((agent_id: number) => ({ company_id: 7, agent_id })))
    return null
  }
  render(h(Component, {}), parent)
}

test('the directory is loaded once a busy server answers, and survives its next pause', async () => {
  status = 503
  open(() => useDirectory(0))
  await until(() => result.failure !== undefined)
  assert.deepEqual([result.isLoaded, result.failure.kind], [false, 'busy'])
  status = 200
  await until(() => result.isLoaded)
  assert.deepEqual([result.company, result.agents, result.failure], [7, agents, undefined])
  status = 503
  const { length } = paths
  refreshAll()
  await until(() => paths.length >= length + 6)
  assert.deepEqual([result.isLoaded, result.agents], [true, agents])
})

test('a refusal of the directory is not repeated', async () => {
  status = 403
  const before = retries
  open(() => useDirectory(7))
  await until(() => result.failure !== undefined)
  await settle()
  assert.deepEqual([paths.length, retries - before], [3, 0])
})

test('names of agents are loaded once a busy server answers', async () => {
  status = 503
  open(useAgentNames, [12])
  await until(() => result.isLoaded)
  assert.equal(result.names.size, 0)
  status = 200
  await until(() => result.names.get(12) === 'Lector')
})

test('an unknown agent is requested once', async () => {
  open(useAgentNames, [12])
  await until(() => result.names.has(12))
  agents.push({ id: 13, name: 'Archivista' })
  setAgentIds([12, 13])
  await until(() => result.names.get(13) === 'Archivista')
  setAgentIds([12, 13, 99])
  await until(() => paths.length === 3)
  for (const ids of [[12], [12, 99], [12, 13]]) {
    setAgentIds(ids)
    await settle()
  }
  assert.equal(paths.length, 3)
})
