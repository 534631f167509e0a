// Commands of indicators: lists, keys and codes, costs, and rejected words.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { currentDay } from '../../../../../src/values/dates.ts'
import { temporaryDirectory } from '../../../../support/temporary.ts'
import { runCommand } from '../../../../support/terminal.ts'

async function openStore(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  const at = ['--data-dir', dataDir]
  await runCommand(['key', 'create', 'erp', ...at])
  return {
    run: (...words: string[]) => runCommand(['indicator', ...words, ...at]),
    async json(...words: string[]) {
      return JSON.parse((await runCommand(['indicator', ...words, '--json', ...at])).out)
    },
  }
}

test('`indicator enable` takes codes and keys, and prints what they cost', async (t) => {
  const { run, json } = await openStore(t)
  assert.deepEqual(await json('list'), [])
  const { code, out } = await run('enable', '423', 'TPM', '98405', '777777')
  assert.equal(code, 0)
  assert.match(out, /^423 is enabled: Tasa básica pasiva calculada por el BCCR$/m)
  assert.match(out, /^777777 is enabled: its name comes with the first answer$/m)
  assert.match(out, /^Requests: 3 a day, 1 a week; .* until a year has no values/m)
  assert.match(out, /needs the bank's token \(--bccr-token-file\)/)
  const year = Number(currentDay(() => new Date()).slice(0, 4))
  const answer = await json('enable', '3149', '--from', `${year - 1}-12-31`)
  const cost = { requests_a_day: 1, requests_a_week: 0, history_requests: 2 }
  assert.deepEqual(answer, { enabled: ['3149'], ...cost })
  const rows: { code: string }[] = await json('list')
  assert.deepEqual(
    rows.map((one) => one.code),
    ['423', '3149', '3541', '98405', '777777'],
  )
  assert.deepEqual(rows[1], {
    ...{ provider: 'bccr', code: '3149', name: 'Banco Nacional: compra en ventanilla', kind: 'counter' },
    ...{ unit: 'CRC por USD', periodicity: 'diaria', entity: 'Banco Nacional', side: 'compra' },
    ...{
      first_date: null,
      newest_date: null,
      enabled: true,
      newest_value: null,
      history_percent: 0,
      state: 'new',
      refusal: null,
    },
  })
})

test('`indicator disable` leaves the row, and `indicator list` omits it without --all', async (t) => {
  const { run, json } = await openStore(t)
  await run('enable', 'tbp', 'tpm')
  assert.match((await run('disable', 'tbp')).out, /^423 is disabled; its stored values are still served$/m)
  assert.deepEqual(
    (await json('list')).map((one: { code: string }) => one.code),
    ['3541'],
  )
  const all: { code: string; state: string }[] = await json('list', '--all')
  const states = new Map(all.map(({ code, state }) => [code, state]))
  assert.deepEqual(
    [states.get('423'), states.get('3541'), states.get('347')],
    ['disabled', 'new', 'available'],
  )
  assert.equal(states.size, all.length, 'each code once')
  assert.equal(states.get('318'), undefined, 'rates are no indicators')
  await run('enable', '423')
  assert.equal((await json('list')).length, 2)
})

test('`indicator list --search` finds words without accents in names and entities', async (t) => {
  const { json } = await openStore(t)
  const search = async (text: string) =>
    (await json('list', '--all', '--search', text)).map((one: { code: string }) => one.code)
  assert.deepEqual(await search('RESERVAS internacionales netas'), ['5970'])
  assert.deepEqual(await search('nacional COMPRA'), ['3149'])
  assert.deepEqual(await search('no such words'), [])
})

test('`indicator` rejects rates, unknown keys, codes that were never enabled, and a later day', async (t) => {
  const { run, json } = await openStore(t)
  const fails = async (exit: number, message: RegExp, ...words: string[]) => {
    const { code, err } = await run(...words)
    assert.equal(code, exit, err)
    assert.match(err, message)
  }
  await fails(2, /318 is a rate of bccr, which cambista series list shows/, 'enable', '423', '318')
  await fails(2, /there is no indicator "tbb": did you mean tbp\?/, 'enable', 'tbb')
  await fails(2, /there is no indicator "12345678901": a code has 1 to 10 digits/, 'enable', '12345678901')
  await fails(1, /the indicator 423 was never enabled: see cambista indicator list/, 'disable', '423')
  await fails(2, /--from 2999-01-01 is after today/, 'enable', '423', '--from', '2999-01-01')
  assert.deepEqual(await json('list'), [], 'nothing of a rejected command is stored')
})
