// The doctor on indicators: refused codes, other names, waiting for the token, old and abandoned series.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Report } from '../../../../../src/domain/operations/doctor/examination.ts'
import { examineIndicators } from '../../../../../src/domain/operations/doctor/indicators.ts'
import { type IndicatorDesk, openIndicatorDesk } from '../../../../support/rates/indicator-desk.ts'

const TODAY = '2026-03-24'

async function examined({ db, clock, provider }: IndicatorDesk) {
  const findings: string[] = []
  const notes: string[] = []
  const report: Report = {
    finding: (check, message) => findings.push(`${check}: ${message}`),
    note: (message) => notes.push(message),
  }
  await examineIndicators({ db, clock: clock.read, allProviders: [provider], report })
  return { findings, notes }
}

/** Moves the clock to 06:40 of a later day, and syncs the rates. */
async function nextDay(desk: IndicatorDesk, days = 1): Promise<void> {
  desk.clock.now = new Date(desk.clock.now.getTime() + days * 86_400_000)
  desk.clock.now.setUTCHours(12, 40)
  await desk.sync()
  desk.clock.now = new Date(desk.clock.now.getTime() + 60_000)
}

test('the doctor has no line about indicators unless one is enabled', async (t) => {
  const desk = await openIndicatorDesk(t)
  assert.deepEqual(await examined(desk), { findings: [], notes: [] })
})

test('the doctor finds a code that the bank refuses on 3 days, with the words of the bank', async (t) => {
  const desk = await openIndicatorDesk(t)
  desk.values['423'] = (day) => (day <= desk.clock.today() ? '4' : undefined)
  await desk.enable(['423', '555'], TODAY)
  for (let day = 1; day <= 3; day += 1) {
    assert.deepEqual((await examined(desk)).findings, [], `before day ${day}`)
    await desk.read()
    if (day < 3) await nextDay(desk)
  }
  assert.deepEqual(await examined(desk), {
    findings: ['indicators: the bank refuses 555 (no name): 555: HTTP 400: El indicador no existe.'],
    notes: [
      '2 indicators are enabled',
      'last run of indicators: run 3, ended 2026-03-26T12:41:00.000Z, parcial (555: HTTP 400: El indicador no existe.)',
    ],
  })
})

test('the doctor notes a name that is not the shipped one, accents and case apart', async (t) => {
  const desk = await openIndicatorDesk(t)
  desk.names.set('423', 'TASA BASICA  PASIVA calculada por el BCCR')
  desk.names.set('353', 'Libor')
  desk.names.set('777', 'Sin lista')
  await desk.enable(['423', '353', '777'], TODAY)
  await desk.read()
  const difference =
    '353: the bank calls it "Libor", the list "Prime rate": its code may have been given anew'
  assert.deepEqual(await examined(desk), {
    findings: [],
    notes: [
      '3 indicators are enabled',
      `last run of indicators: run 1, ended 2026-03-24T12:40:00.000Z, parcial (${difference})`,
      `indicator ${difference}`,
    ],
  })
})

test('the doctor notes indicators that wait for the token', async (t) => {
  const desk = await openIndicatorDesk(t)
  desk.token.value = undefined
  await desk.enable(['423', '3541'], TODAY)
  await desk.read()
  assert.deepEqual((await examined(desk)).notes, [
    '2 indicators are enabled, 2 wait for the token of the bank',
  ])
})

test('the doctor names an old value, and after two years proposes to disable the indicator', async (t) => {
  const desk = await openIndicatorDesk(t)
  desk.values['423'] = (day) => (day <= '2026-03-20' ? '4' : undefined)
  await desk.enable(['423'], '2026-03-10')
  await desk.read()
  const notes = async () => {
    const [, last, ...others] = (await examined(desk)).notes
    assert.equal(last, 'last run of indicators: run 1, ended 2026-03-24T12:40:00.000Z, ok')
    return others
  }
  const setDay = (day: string) => {
    desk.clock.now = new Date(`${day}T18:00:00Z`)
  }
  setDay('2026-03-30')
  assert.deepEqual(await notes(), [])
  setDay('2026-03-31')
  const name = 'Tasa básica pasiva calculada por el BCCR'
  assert.deepEqual(await notes(), [`indicator 423 (${name}): the newest value is of 2026-03-20`])
  setDay('2028-03-20')
  assert.deepEqual(await notes(), [
    'indicator 423 has no value since 2026-03-20: cambista indicator disable 423',
  ])
})
