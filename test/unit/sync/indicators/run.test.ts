// The run over indicators: order, limits, refusals, rejected rows, and that the rates know nothing of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateIndicator } from '../../../../src/store/indicators/changes.ts'
import { selectIndicatorRuns } from '../../../../src/store/indicators/runs.ts'
import {
  selectIndicatorCoverage,
  selectLaterIndicatorRevisions,
} from '../../../../src/store/indicators/values.ts'
import { selectMeta } from '../../../../src/store/meta.ts'
import { selectRuns } from '../../../../src/store/rates/sync-runs.ts'
import { addDays } from '../../../../src/values/dates.ts'
import { httpFailure, openIndicatorDesk, startNextDay } from '../../../support/rates/indicator-desk.ts'
import { listDays } from '../../../support/rates/memory-bank.ts'

const TODAY = '2026-03-24'
const NEWEST = { from: '2026-03-10', to: '2026-03-25' }

test('values of any sign are stored with the digits of the bank, and the rates do not change', async (t) => {
  const desk = await openIndicatorDesk(t)
  const digits: Record<string, string> = { '2026-03-20': '-0.25000000', '2026-03-21': '0.0', [TODAY]: '4.10' }
  desk.values['423'] = (day) => digits[day]
  await desk.enable(['423'], '2026-03-01')
  const before = [await selectMeta(desk.db), await selectRuns(desk.db, { limit: 9 })]
  const run = await desk.read({ isNewestOnly: true })
  assert.deepEqual(await desk.stored('423'), { '2026-03-20': '-0.25', '2026-03-21': '0', [TODAY]: '4.1' })
  assert.deepEqual(desk.calls, [{ code: '423', window: NEWEST }])
  assert.deepEqual([run?.status, run?.inserted, run?.message], ['ok', 3, null])
  assert.deepEqual([run?.date_from, run?.date_to], [NEWEST.from, NEWEST.to])
  assert.deepEqual(
    await selectIndicatorCoverage(desk.db),
    new Map([['423', [{ from: NEWEST.from, to: TODAY }]]]),
  )
  assert.deepEqual([await selectMeta(desk.db), await selectRuns(desk.db, { limit: 9 })], before)
  const { state, is_named: isNamed } = await desk.row('423')
  assert.deepEqual([state, isNamed], ['active', true])
})

test('daily indicators come first, then weekly and longer ones, then history, the newest year first', async (t) => {
  const desk = await openIndicatorDesk(t)
  const codes = ['98405', '423', '3541', '777']
  for (const code of codes) desk.names.set(code, `Indicador ${code}`)
  desk.facts.set('777', { name: '', unit: 'millones', periodicity: 'semanal' })
  for (const code of codes)
    desk.values[code] = (day) => (day >= '2024-06-01' && day <= TODAY ? '1' : undefined)
  await desk.enable(codes)
  await updateIndicator(desk.db, '777', { periodicity: 'semanal' })
  await desk.read()
  const texts = desk.calls.map(({ code, window: { from, to } }) => `${code} ${from} ${to}`)
  assert.deepEqual(texts.slice(0, 8), [
    '423 2026-03-10 2026-03-25',
    '3541 2026-03-10 2026-03-25',
    '777 2026-03-10 2026-03-25',
    '98405 2025-02-18 2026-03-25',
    '423 2025-03-09 2026-03-09',
    '777 2025-03-09 2026-03-09',
    '3541 2025-03-09 2026-03-09',
    '423 2024-03-08 2025-03-08',
  ])
  // The year that brings nothing is requested twice, and ends the history.
  const last = texts.filter((one) => one.startsWith('423')).slice(-2)
  assert.equal(last[0], last[1])
  assert.ok((await desk.row('423')).history_done)
  assert.equal((await desk.row('777')).unit, 'millones')
  desk.calls.length = 0
  assert.equal(await desk.read(), undefined, 'nothing is due')
  await startNextDay(desk)
  await desk.read()
  assert.deepEqual(
    desk.calls.map(({ code }) => code),
    ['423', '3541'],
  )
  desk.calls.length = 0
  await startNextDay(desk, 6)
  await desk.read()
  assert.deepEqual(
    desk.calls.map(({ code }) => code),
    ['423', '3541', '777', '98405'],
  )
})

test('--from ends the history, also below years without values', async (t) => {
  const desk = await openIndicatorDesk(t)
  desk.values['423'] = (day) => (day < '2020-01-01' ? '1' : undefined)
  await desk.enable(['423'], '2018-01-01')
  await desk.read()
  assert.equal(Object.keys(await desk.stored('423'))[0], '2018-01-01')
  assert.deepEqual(
    await selectIndicatorCoverage(desk.db),
    new Map([['423', [{ from: '2018-01-01', to: TODAY }]]]),
  )
})

test('history has 600 requests a day, and none from 04:00 to 06:30', async (t) => {
  const desk = await openIndicatorDesk(t, '2026-03-24T11:00:00Z') // 05:00 in Costa Rica
  desk.values['423'] = () => '1'
  await desk.enable(['423'], '2015-01-01')
  await desk.read()
  assert.equal(desk.calls.length, 1)
  desk.clock.now = new Date('2026-03-24T12:29:00Z')
  assert.equal(await desk.read(), undefined)
  desk.clock.now = new Date('2026-03-24T12:30:00Z')
  await desk.db.updateTable('indicator_runs').set({ history: 597 }).execute()
  const run = await desk.read()
  assert.equal(run?.status, 'ok')
  assert.equal(desk.calls.length, 3, 'two requests remained')
  assert.equal(await desk.read(), undefined)
  await startNextDay(desk)
  await desk.read()
  assert.ok(desk.calls.length > 10, 'the next day continues')
})

test('a corrected value is a revision, and other values are unchanged', async (t) => {
  const desk = await openIndicatorDesk(t)
  desk.values['423'] = (day) => (day <= TODAY ? '4' : undefined)
  await desk.enable(['423'], NEWEST.from)
  await desk.read()
  desk.values['423'] = (day) => (day === '2026-03-20' ? '4.5' : day <= TODAY ? '4' : undefined)
  await startNextDay(desk)
  const run = await desk.read()
  assert.deepEqual([run?.inserted, run?.updated, run?.unchanged], [0, 1, 13])
  const [revision, ...others] = await selectLaterIndicatorRevisions(desk.db, '423', 0)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [revision?.value_date, revision?.old_value, revision?.new_value],
    ['2026-03-20', '4', '4.5'],
  )
})

for (const periodicity of ['diaria', 'semanal', null]) {
  test(`values five weeks late are stored, of an indicator with the periodicity ${periodicity}`, async (t) => {
    const desk = await openIndicatorDesk(t)
    let published = TODAY
    desk.values['423'] = (day) => (day <= published ? '4' : undefined)
    await desk.enable(['423'], NEWEST.from)
    await updateIndicator(desk.db, '423', { periodicity })
    await desk.read()
    for (let week = 1; week <= 5; week++) {
      await startNextDay(desk, 7)
      await desk.read()
    }
    assert.equal(desk.calls.at(-1)?.window.from, '2026-03-25')
    published = addDays(TODAY, 42)
    await startNextDay(desk, 7)
    await desk.read()
    assert.deepEqual(Object.keys(await desk.stored('423')), listDays(NEWEST.from, published))
    desk.calls.length = 0
    await startNextDay(desk, 92)
    await desk.read()
    assert.equal(desk.calls[0]?.window.from, addDays(published, 1))
    desk.calls.length = 0
    await startNextDay(desk, 7)
    await desk.read()
    assert.equal(desk.calls[0]?.window.from, addDays(published, 85), 'silent for more than 92 days')
  })
}

test('rejected rows are named, not stored, and their days are not covered', async (t) => {
  const desk = await openIndicatorDesk(t)
  await desk.enable(['423'], NEWEST.from)
  const row = (day: string, value: string, code = '423') => ({ code, day, value, roundedTo: undefined })
  desk.hook.fault = () => ({
    listed: [{ code: '423', name: 'Tasa básica pasiva calculada por el BCCR' }],
    observations: [
      row('2026-03-20', '1,234.5'),
      row('2026-03-21', '4'),
      row('2026-03-22', '4'),
      row('2026-03-22', '5'),
      row('2026-02-01', '4'),
      row('2026-03-23', '4', '318'),
    ],
  })
  const run = await desk.read()
  assert.equal(run?.status, 'parcial')
  assert.match(
    run?.message ?? '',
    /^423: 4 rows rejected, the first: 423 on 2026-03-20: "1,234.5" is not a decimal$/,
  )
  assert.deepEqual(await desk.stored('423'), { '2026-03-21': '4' })
  const covered = (await selectIndicatorCoverage(desk.db)).get('423')
  assert.deepEqual(covered, [
    { from: NEWEST.from, to: '2026-03-19' },
    { from: '2026-03-21', to: '2026-03-21' },
    { from: '2026-03-23', to: TODAY },
  ])
})

for (const [guess, text] of [
  ['thousands marks', '1.234.567,89'],
  ['thousands spaces', '1 234.5'],
  ['a percent sign', '4.1%'],
  ['a word', 'N/D'],
  ['two signs', '--4'],
] as const) {
  test(`a value with ${guess} is rejected, named, and its day requested again`, async (t) => {
    const desk = await openIndicatorDesk(t)
    desk.values['423'] = (day) => (day === '2026-03-20' ? text : day <= TODAY ? '4' : undefined)
    await desk.enable(['423'], NEWEST.from)
    const run = await desk.read({ isNewestOnly: true })
    const problem = `423: 1 row rejected, the first: 423 on 2026-03-20: "${text}" is not a decimal`
    assert.deepEqual([run?.status, run?.message], ['parcial', problem])
    assert.equal((await desk.stored('423'))['2026-03-20'], undefined)
    const covered = (await selectIndicatorCoverage(desk.db)).get('423') ?? []
    assert.deepEqual(
      covered.map(({ from, to }) => from <= '2026-03-20' && to >= '2026-03-20'),
      [false, false],
    )
  })
}

test('a run replaces the value of a day by a later one, and the earlier values are revisions', async (t) => {
  const desk = await openIndicatorDesk(t)
  desk.names.set('3149', 'Banco Nacional: compra en ventanilla')
  await desk.enable(['3149'], NEWEST.from)
  for (const [at, value] of ['495', '496.5', '495.25'].entries()) {
    if (at > 0) await startNextDay(desk)
    desk.values['3149'] = (day) => (day === TODAY ? value : undefined)
    await desk.read({ isNewestOnly: true })
  }
  assert.deepEqual(await desk.stored('3149'), { [TODAY]: '495.25' })
  const revisions = await selectLaterIndicatorRevisions(desk.db, '3149', 0)
  assert.deepEqual(
    revisions.map(({ value_date, old_value, new_value }) => [value_date, old_value, new_value]),
    [
      [TODAY, '495', '496.5'],
      [TODAY, '496.5', '495.25'],
    ],
  )
})

test('a monthly value has the day that the bank gives it, one or several a month', async (t) => {
  const desk = await openIndicatorDesk(t)
  desk.names.set('98405', 'IMAE')
  const days: Record<string, string> = { '2026-01-01': '1', '2026-02-28': '2', '2026-03-01': '3' }
  desk.values['98405'] = (day) => days[day]
  await desk.enable(['98405'], '2026-01-01')
  await desk.read({ isNewestOnly: true })
  assert.deepEqual(await desk.stored('98405'), days)
})

test('a code that the bank refuses on 3 days is refused, and then requested once a week', async (t) => {
  const desk = await openIndicatorDesk(t)
  await desk.enable(['555'], TODAY)
  for (const [days, state] of ['new', 'new', 'refused'].entries()) {
    if (days > 0) await startNextDay(desk)
    const run = await desk.read()
    assert.deepEqual([run?.status, run?.message], ['error', '555: HTTP 400: El indicador no existe.'])
    assert.equal(await desk.read(), undefined, 'once a day')
    assert.equal((await desk.row('555')).state, state)
  }
  assert.equal((await desk.row('555')).refusal, '555: HTTP 400: El indicador no existe.')
  await startNextDay(desk, 6)
  assert.equal(await desk.read(), undefined)
  desk.names.set('555', 'Otro')
  await startNextDay(desk)
  assert.equal((await desk.read())?.status, 'ok')
  const { state, refusal, refusals, name } = await desk.row('555')
  assert.deepEqual([state, refusal, refusals, name], ['active', null, 0, 'Otro'])
})

test('an answer of another code stores nothing, and counts as a refusal', async (t) => {
  const desk = await openIndicatorDesk(t)
  await desk.enable(['423'], TODAY)
  const observations = [{ code: '424', day: TODAY, value: '1', roundedTo: undefined }]
  desk.hook.fault = () => ({ listed: [{ code: '424', name: 'Otro' }], observations })
  const run = await desk.read()
  assert.deepEqual([run?.status, run?.message], ['error', '423: the answer is of 424, not of 423'])
  assert.deepEqual(await desk.stored('423'), {})
  assert.equal((await desk.row('423')).refusals, 1)
})

test('another name than the shipped one is stored, and reported once', async (t) => {
  const desk = await openIndicatorDesk(t)
  desk.names.set('423', 'TASA BASICA  PASIVA calculada por el BCCR')
  desk.names.set('3434', 'Primero')
  desk.names.set('353', 'Libor')
  await desk.enable(['423', '3434', '353'], TODAY)
  const run = await desk.read()
  const message = '353: the bank calls it "Libor", the list "Prime rate": its code may have been given anew'
  assert.deepEqual([run?.status, run?.message], ['parcial', message])
  assert.equal((await desk.row('423')).name, 'Tasa básica pasiva calculada por el BCCR')
  assert.equal((await desk.row('3434')).name, 'MONEX: primero')
  assert.equal((await desk.row('353')).name, 'Libor')
  await startNextDay(desk)
  assert.equal((await desk.read())?.status, 'ok')
})

test('without a token, or with a refused one, nothing is requested until it changes', async (t) => {
  const desk = await openIndicatorDesk(t)
  desk.token.value = undefined
  await desk.enable(['423', '3541'], TODAY)
  assert.equal(await desk.read(), undefined)
  assert.deepEqual([desk.calls, (await desk.row('423')).state], [[], 'waiting'])
  desk.token.value = 'expired'
  desk.names.set('3541', 'Tasa política monetaria neta')
  desk.hook.fault = ({ code }) => {
    if (code === '3541') throw httpFailure(code, 401, 'El token no es válido o expiró.')
    return undefined
  }
  const run = await desk.read()
  assert.equal(run?.status, 'parcial')
  assert.match(
    run?.message ?? '',
    /^the token was refused, so the indicators wait for another one: 3541: HTTP 401/,
  )
  assert.deepEqual([(await desk.row('423')).state, (await desk.row('3541')).state], ['waiting', 'waiting'])
  assert.equal(await desk.read(), undefined)
  assert.equal(desk.calls.length, 2)
  desk.token.value = 'another'
  desk.hook.fault = undefined
  assert.equal((await desk.read())?.status, 'ok')
  assert.deepEqual([(await desk.row('423')).state, (await desk.row('3541')).state], ['active', 'active'])
})

test('nothing is requested unless the last run of the rates was good', async (t) => {
  const desk = await openIndicatorDesk(t)
  await desk.enable(['423'], TODAY)
  desk.bank.notices.push('a problem')
  desk.clock.now = new Date(desk.clock.now.getTime() + 60_000)
  assert.equal((await desk.sync()).status, 'parcial')
  assert.equal(await desk.read(), undefined)
  await desk.sync()
  assert.equal((await desk.read())?.status, 'ok')
})

test('three failures in a row end the run, and the next tries an hour later', async (t) => {
  const desk = await openIndicatorDesk(t)
  const codes = ['423', '3541', '3540', '353', '347']
  await desk.enable(codes, TODAY)
  for (const code of codes) desk.names.set(code, code)
  desk.hook.fault = ({ code }) => {
    throw httpFailure(code, 503, 'down')
  }
  assert.equal((await desk.read())?.status, 'error')
  assert.equal(desk.calls.length, 3)
  desk.hook.fault = undefined
  await desk.read()
  assert.equal(desk.calls.length, 5, 'those that were not tried')
  desk.clock.now = new Date(desk.clock.now.getTime() + 3_600_000)
  await desk.read()
  assert.equal(desk.calls.length, 8)
})

test('a sync of the rates waits for one window at most, and the run goes on after it', async (t) => {
  const desk = await openIndicatorDesk(t)
  desk.values['423'] = () => '1'
  await desk.enable(['423'], '2020-01-01')
  let between: Promise<unknown> | undefined
  let callsAtEnd = 0
  desk.hook.fault = () => {
    if (desk.calls.length === 3)
      between ??= desk.sync().then(() => {
        callsAtEnd = desk.calls.length
      })
    return undefined
  }
  const run = await desk.read()
  await between
  assert.ok(callsAtEnd <= 4, `${callsAtEnd} requests`)
  assert.equal(run?.status, 'ok')
  assert.equal(Object.keys(await desk.stored('423'))[0], '2020-01-01')
  assert.equal((await selectIndicatorRuns(desk.db, 9)).length, 1)
})

test('a stop between windows loses nothing, and the next run goes on there', async (t) => {
  const desk = await openIndicatorDesk(t)
  desk.values['423'] = () => '1'
  await desk.enable(['423'], '2018-01-01')
  const stop = new AbortController()
  desk.hook.fault = () => {
    if (desk.calls.length === 4) stop.abort()
    stop.signal.throwIfAborted()
    return undefined
  }
  const run = await desk.read({ signal: stop.signal })
  assert.deepEqual([run?.status, run?.message], ['parcial', 'stopped, goes on later'])
  const [oldest = ''] = Object.keys(await desk.stored('423'))
  const last = desk.calls.at(-1)?.window
  assert.equal(addDays(oldest, -1), last?.to)
  desk.hook.fault = undefined
  desk.calls.length = 0
  await desk.read()
  assert.deepEqual(desk.calls[0]?.window, last)
})
