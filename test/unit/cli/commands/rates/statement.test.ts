// `statement verify` on the database of a server that made the certificate: all verdicts, in both languages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseStatementLink } from '../../../../../src/domain/rates/statement/statement-link.ts'
import { raiseRevision } from '../../../../../src/store/meta.ts'
import { replaceCoverage } from '../../../../../src/store/rates/coverage.ts'
import { CERTIFICATE } from '../../../../../src/web/i18n/certificate.ts'
import { inLanguage } from '../../../../../src/web/i18n/table-texts.ts'
import { asOtherProcess } from '../../../../api/support.ts'
import { startTestApp, type TestApp } from '../../../../support/app.ts'
import { startMemoryApp } from '../../../../support/rates/memory-app.ts'
import { EUR } from '../../../../support/rates/memory-bank.ts'
import { runCommand } from '../../../../support/terminal.ts'

type Answer = { statement: string; sha256: string; as_of: string }
type LinkParams = Record<string, string>

const NOW = '2026-03-24T12:00:00Z'
const SPANISH = { LANG: 'es_CR.UTF-8' }
const PARAMS = { amount: '1500', source: 'EUR', target: 'CRC', side: 'venta', on: '2026-03-22' }

async function makeAnswer(app: TestApp, params: LinkParams = PARAMS): Promise<Answer> {
  const { amount = '', source = '', target = '', side = '', on = '' } = params
  const query = new URLSearchParams({
    ...{ amount: amount.replace('-', ''), from: source, to: target, type: side, on },
  })
  return app.json<Answer>(`/api/v1/convert/statement?${query}`)
}

function makeLink({ sha256, as_of }: Answer, params: LinkParams = PARAMS): string {
  return `https://rates.example.com/#rates/certificate?${new URLSearchParams({ ...params, as_of, sha256 })}`
}

function verify({ dataDir }: TestApp, link: string, env: Record<string, string> = {}, ...words: string[]) {
  return runCommand(['statement', 'verify', link, '--data-dir', dataDir, ...words], env)
}

test('`statement verify` prints that a certificate matches, and its statement', async (t) => {
  const app = await startTestApp(t, { now: NOW })
  await app.sync()
  for (const params of [PARAMS, { ...PARAMS, amount: '-2.50', side: 'both' }, { ...PARAMS, source: 'JPY' }]) {
    const answer = await makeAnswer(app, params)
    const end = await verify(app, makeLink(answer, params))
    assert.deepEqual(
      [end.code, end.out],
      [0, `Matches: this server gives the same answer today.\n\n${answer.statement}`],
      end.err,
    )
  }
  const answer = await makeAnswer(app)
  const spanish = await verify(app, makeLink(answer), SPANISH)
  assert.equal(spanish.out.split('\n')[0], 'Coincide: este servidor da hoy la misma respuesta.')
  const json = await verify(app, makeLink(answer), SPANISH, '--json')
  const { statement, sha256, as_of } = answer
  assert.deepEqual(JSON.parse(json.out), { verdict: 'match', statement, sha256, as_of })
})

test('`statement verify` prints both digests of a certificate that does not match, and exits with 1', async (t) => {
  const app = await startTestApp(t, { now: NOW })
  await app.sync()
  const answer = await makeAnswer(app)
  const digest = (answer.sha256[0] === '0' ? '1' : '0') + answer.sha256.slice(1)
  const end = await verify(app, makeLink({ ...answer, sha256: digest }), SPANISH)
  assert.equal(end.code, 1)
  assert.ok(
    end.out.startsWith(
      `No coincide: la huella del enlace es ${digest}; la de esta respuesta es ${answer.sha256}.`,
    ),
  )
  assert.ok(end.out.endsWith(`\n\n${answer.statement}`))
  const other = await verify(app, makeLink(answer, { ...PARAMS, amount: '1501' }))
  assert.match(other.out, /^Does not match: the digest of the link is [\da-f]{64}, that of this answer is /)
})

test('`statement verify` gives the reasons of another result in the words of the page', async (t) => {
  const app = await startMemoryApp(t, { now: NOW, backfillFrom: '2026-03-01' })
  const until = (last: string, value: string) => (day: string) => (day <= last ? value : undefined)
  app.takeToken(2)
  Object.assign(app.memory.publish, {
    318: until('2026-03-24', '485.81'),
    [EUR]: until('2026-03-20', '1.21'),
  })
  await app.sync()
  const dollars = { ...PARAMS, source: 'USD', amount: '-1500' }
  const refined = { ...PARAMS, source: 'EUR', target: 'USD', on: '2026-03-20' }
  const carried = { ...refined, on: '2026-03-22' }
  const [first, second, third] = [
    await makeAnswer(app, dollars),
    await makeAnswer(app, refined),
    await makeAnswer(app, carried),
  ]
  app.clock.now = new Date('2026-03-25T12:00:00Z')
  app.giveToken()
  app.memory.publish['318'] = (day) => (day === '2026-03-22' ? '600.25' : '485.81')
  app.memory.publish[EUR] = (day) => (day === '2026-03-22' ? '1.3' : '1.20534')
  await app.sync()
  const english = await verify(app, makeLink(first, dollars))
  assert.deepEqual(
    [english.code, english.out],
    [
      0,
      `Matches: this server gives the same answer today.\nThe BCCR corrected USD/CRC venta of 22/03/2026 later. Today the result would be -900375 CRC.\n\n${first.statement}`,
    ],
  )
  const words = inLanguage(CERTIFICATE, 'es')
  for (const [answer, params, reasons, result] of [
    [first, dollars, words.changes.correction(['USD/CRC venta del 22/03/2026']), '-900375 CRC'],
    [second, refined, words.changes.refined(['EUR/USD del 20/03/2026']), '1808.01 USD'],
    [
      third,
      carried,
      [words.changes.refined(['EUR/USD del 20/03/2026']), words.changes.new(['EUR/USD del 22/03/2026'])].join(
        ' ',
      ),
      '1950 USD',
    ],
  ] as const) {
    const end = await verify(app, makeLink(answer, params), SPANISH)
    assert.equal(end.out.split('\n')[1], `${reasons} ${words.changedNow(result)}`)
  }
})

test('`statement verify` gives the reason why there is no answer any more', async (t) => {
  const app = await startMemoryApp(t, { now: NOW, backfillFrom: '2026-03-01' })
  app.memory.publish[EUR] = (day) => (day <= '2026-03-20' ? '1.20534' : undefined)
  await app.sync()
  const params = { ...PARAMS, target: 'USD' }
  const link = makeLink(await makeAnswer(app, params), params)
  const [{ id } = { id: 0 }] = await app.json<{ id: number }[]>('/api/v1/series?base=EUR')
  app.clock.now = new Date('2026-03-25T12:00:00Z')
  await asOtherProcess(app, async (db) => {
    const days = [
      { from: '2026-03-01', to: '2026-03-20' },
      { from: '2026-03-22', to: '2026-03-25' },
    ]
    await replaceCoverage(db, 'answered', new Map([[id, days]]), app.clock.now.getTime())
    await raiseRevision(db)
  })
  const end = await verify(app, link, SPANISH)
  assert.equal(
    end.out.split('\n')[1],
    `${inLanguage(CERTIFICATE, 'es').noAnswerNow} «the days from 2026-03-21 to 2026-03-21 have not been synchronized»`,
  )
})

test('`statement verify` names the limits of the record', async (t) => {
  const app = await startTestApp(t, { now: NOW })
  await app.sync()
  const answer = await makeAnswer(app)
  const early = await verify(app, makeLink({ ...answer, as_of: '2020-01-01T00:00:00.000Z' }), SPANISH)
  assert.equal(early.code, 1)
  assert.match(early.out, /^El registro de este servidor comienza el 24\/03\/2026, 06:00:00\.\n$/)
  const times = { gap_from: Date.parse(answer.as_of) - 1000, gap_to: Date.parse(answer.as_of) + 1000 }
  await asOtherProcess(app, (db) => db.insertInto('record_gaps').values(times).execute())
  const gap = await verify(app, makeLink(answer), SPANISH)
  assert.equal(gap.code, 1)
  assert.match(
    gap.out,
    /^Este servidor no puede comprobarla: entre 24\/03\/2026, 05:59:59 y 24\/03\/2026, 06:00:0\d su registro tiene un vacío\.\n$/,
  )
  const json = await verify(app, makeLink(answer), {}, '--json')
  assert.deepEqual(JSON.parse(json.out), {
    verdict: 'gap',
    gap: { from: new Date(times.gap_from).toISOString(), to: new Date(times.gap_to).toISOString() },
  })
})

test('`statement verify` rejects other texts than links of certificates', async (t) => {
  const app = await startTestApp(t, { now: NOW })
  await app.sync()
  const link = makeLink(await makeAnswer(app))
  assert.ok(parseStatementLink(link))
  for (const wrong of [
    'https://rates.example.com/#rates?on=2026-03-22',
    ...['amount', 'source', 'target', 'on', 'as_of', 'sha256'].map((name) =>
      link.replace(new RegExp(`([?&])${name}=[^&]*`), '$1'),
    ),
    ...[link.slice(0, -1), link.replace('side=venta', 'side=otro'), link.replace('1500', '-0')],
  ]) {
    const end = await verify(app, wrong)
    assert.deepEqual([end.code, end.out], [2, ''], wrong)
    assert.match(end.err, /LINK must be the whole address of a certificate, in quotes/, wrong)
  }
  const later = await verify(app, link.replace('on=2026-03-22', 'on=2999-03-22'))
  assert.match(later.err, /LINK is of 2999-03-22, which is after tomorrow/)
  const future = await verify(app, link.replace(/as_of=20\d\d/, 'as_of=2999'))
  assert.match(future.err, /LINK is as of 2999-\S+Z, which is in the future/)
})
