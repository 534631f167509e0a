// MCP tools of indicators: offered while one is enabled, latest values and histories (decisions#indicators).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { disableIndicators } from '../../../src/domain/indicators/enable.ts'
import { bccrIndicators } from '../../../src/providers/bccr/indicators/indicator-source.ts'
import { fillDirectory, TOKENS } from '../../support/directory.ts'
import { startIndicatorApp, TBP } from '../../support/rates/indicator-app.ts'
import { type Answer, connect, listToolNames, RATE_TOOLS } from './support.ts'

const TOOLS = ['list_indicators', 'get_indicator']
const VALUES: Record<string, string> = { '2026-03-18': '4.10', '2026-03-20': '-0.25', '2026-03-21': '0' }

test('the tools of indicators are offered while one is enabled, and answer with the digits of the bank', async (t) => {
  const app = await startIndicatorApp(t, [TBP, { code: '3149', name: 'Banco Nacional' }])
  app.values['423'] = (day) => VALUES[day]
  await app.sync()
  const client = await connect(t, 'modern', { app })
  const call = async (name: string, input: Record<string, unknown> = {}) =>
    (await client.callTool({ name, arguments: input })) as Answer
  assert.deepEqual(await listToolNames(client), RATE_TOOLS)
  await assert.rejects(call('get_indicator', { code: '423' }), /There is no tool "get_indicator"/)
  await app.enable(['423', '3149'], '2026-03-10')
  await app.read()
  assert.deepEqual(await listToolNames(await connect(t, 'legacy', { app })), [...RATE_TOOLS, ...TOOLS])
  const facts = { code: '423', key: 'tbp', name: TBP.name, kind: 'interest', unit: 'porcentaje anual' }
  const days = { periodicity: 'diaria', first_date: '2026-03-18', newest_date: '2026-03-21', enabled: true }
  const list = await call('list_indicators')
  assert.deepEqual(list.structuredContent?.indicators[0], { ...facts, ...days })
  assert.equal(list.structuredContent?.indicators.length, 2)
  const counters = await call('list_indicators', { kind: 'counter', entity: 'nacional' })
  assert.equal(counters.structuredContent?.indicators[0].side, 'compra')
  const after = await call('list_indicators', { after: 423 })
  assert.deepEqual(
    after.structuredContent?.indicators.map(({ code }: { code: string }) => code),
    ['3149'],
  )

  const latest = await call('get_indicator', { code: 'tbp' })
  assert.deepEqual(latest.structuredContent, { ...facts, ...days, value_date: '2026-03-21', value: '0' })
  const words = `${TBP.name} (423): 0 porcentaje anual, of 2026-03-21, the last published day on or before 2026-03-24.`
  assert.equal(latest.content[0]?.text, words)
  const range = await call('get_indicator', { code: '423', from: '2026-03-01', to: '2026-03-20' })
  assert.deepEqual(range.structuredContent, {
    ...{ ...facts, ...days, date_from: '2026-03-01', date_to: '2026-03-20', count: 2 },
    holes: [{ from: '2026-03-01', to: '2026-03-09' }],
    points: [
      { date: '2026-03-18', value: '4.1' },
      { date: '2026-03-20', value: '-0.25' },
    ],
  })
  assert.match(range.content[0]?.text ?? '', /^2 values of .* Not synchronized: 2026-03-01 to 2026-03-09\.$/)
  const errors: [Record<string, unknown>, RegExp][] = [
    [{ code: '423', on: '2026-03-27' }, /on is in the future: today is 2026-03-24/],
    [{ code: '423', on: '2026-03-20', from: '2026-03-01' }, /on goes without from and to/],
    [{ code: '423', on: '2026-03-05' }, /the days from 2026-03-05 to 2026-03-05 have not been synchronized/],
    [{ code: 'tbb' }, /^There is no indicator tbb. list_indicators names those that are enabled$/],
    [{ code: '3541' }, /not enabled: cambista indicator enable 3541/],
    [{ code: '3149' }, /No value of the indicator 3149 .* list_indicators names those that are enabled/],
  ]
  for (const [input, message] of errors) {
    const { isError, content } = await call('get_indicator', input)
    assert.equal(isError, true, JSON.stringify(input))
    assert.match(content[0]?.text ?? '', message)
  }
  await app.write((db) => disableIndicators(db, bccrIndicators, ['423', '3149'], app.clock.read()))
  assert.deepEqual(await listToolNames(await connect(t, 'legacy', { app })), RATE_TOOLS)
})

test('the list of all tools has at most 20 KB with those of indicators', async (t) => {
  const app = await startIndicatorApp(t, [TBP])
  await fillDirectory(app)
  await app.enable(['423'])
  const headers = { 'x-api-key': app.key, authorization: `Bearer ${TOKENS.work}` }
  const names = await listToolNames(await connect(t, 'modern', { app, headers }))
  for (const name of TOOLS) assert.ok(names.includes(name), name)
})
