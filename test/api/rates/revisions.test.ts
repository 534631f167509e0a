import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetchAnswer, startMemoryApp } from '../../support/rates/memory-app.ts'
import { EUR } from '../../support/rates/memory-bank.ts'
import { runCommand } from '../../support/terminal.ts'
import { validationItems } from '../support.ts'

type Revision = {
  id: number
  series_id: number
  rate_date: string
  old_stored_at: string
  replaced_at: string
}
type Page = { revisions: Revision[]; next_after: number; has_more: boolean }

const FIRST = '2026-03-24T12:00:00.000Z'
const SECOND = '2026-03-25T12:00:00.000Z'

test('/revisions lists corrections by series, day and kind, a page at a time', async (t) => {
  const app = await startMemoryApp(t, { now: FIRST })
  app.takeToken(2)
  app.memory.publish[EUR] = () => '1.1'
  await app.sync()
  app.giveToken()
  app.clock.now = new Date(SECOND)
  app.memory.publish[EUR] = (day) => (day === '2026-03-20' ? '1.2' : day === '2026-03-23' ? '1.104' : '1.1')
  app.memory.publish['318'] = (day) => (day === '2026-03-23' ? '501.25' : '500')
  await app.sync({ from: '2026-03-20', to: '2026-03-24' })
  const list = async (query = '') => (await fetchAnswer(app, `/revisions?${query}`)) as Page
  const [dollar, euro, ...rest] = (await list()).revisions
  assert.deepEqual(rest, [])
  const { run_id, ...shown } = dollar as Revision & { run_id: number }
  assert.deepEqual(shown, {
    ...{
      id: shown.id,
      provider: 'bccr',
      series_id: 2,
      external_code: '318',
      pair: 'USD/CRC',
      rate_type: 'venta',
    },
    ...{
      rate_date: '2026-03-23',
      kind: 'correction',
      old_value: '500',
      old_rounded_to: 2,
      old_stored_at: shown.old_stored_at,
    },
    ...{ new_value: '501.25', replaced_at: shown.replaced_at },
  })
  // Within a millisecond for each commit.
  assert.match(shown.old_stored_at, /^2026-03-24T12:00:00\.0/)
  assert.match(shown.replaced_at, /^2026-03-25T12:00:00\.0/)
  const [run] = (await fetchAnswer(app, '/sync/runs?limit=1')) as { id: number }[]
  assert.equal(run_id, run?.id)
  assert.deepEqual([euro?.series_id, euro?.rate_date], [4, '2026-03-20'])
  const ids = async (query: string) => (await list(query)).revisions.map(({ id }) => id)
  assert.deepEqual(await ids('series_id=4'), [euro?.id])
  assert.deepEqual(await ids('from=2026-03-21'), [dollar?.id])
  assert.deepEqual(await ids('to=2026-03-20'), [euro?.id])
  assert.deepEqual(await ids('from=2026-03-24'), [])
  const refined = (await list('kind=refined&series_id=4')).revisions
  assert.ok(refined.some(({ rate_date }) => rate_date === '2026-03-23'))
  const first = await list('limit=1')
  assert.deepEqual([first.next_after, first.has_more], [dollar?.id, true])
  const second = await list(`limit=1&after=${first.next_after}`)
  assert.deepEqual([second.revisions[0]?.id, second.has_more], [euro?.id, false])
  assert.deepEqual(await list(`after=${euro?.id}`), { revisions: [], next_after: euro?.id, has_more: false })
  // The command prints the same facts.
  const { out } = await runCommand(['revision', 'list', '--data-dir', app.dataDir, '--json'])
  const facts = (one: object) => {
    const {
      provider: _,
      external_code: __,
      pair: ___,
      rate_type: ____,
      ...own
    } = one as Record<string, unknown>
    return own
  }
  assert.deepEqual(
    JSON.parse(out),
    [dollar, euro].map((one) => facts(one ?? {})),
  )
})

test('wrong parameters of /revisions are errors', async (t) => {
  const app = await startMemoryApp(t)
  const messages = async (query: string) =>
    (await validationItems(app, `/api/v1/revisions?${query}`)).map(({ msg }) => msg)
  assert.deepEqual(await messages('kind=any'), ['kind must be correction, refined or discarded'])
  assert.deepEqual(await messages('series_id=usd'), ['series_id must be an integer'])
  assert.deepEqual(await messages('from=2026-03-02&to=2026-03-01'), ['from must not be after to'])
  assert.deepEqual(await messages('limit=0'), ['limit must be an integer from 1 to 200'])
  for (const after of ['-1', '99999999999999999999', '9007199254740992', '1.5', '']) {
    const [message, ...others] = await messages(`after=${after}`)
    assert.deepEqual(others, [])
    assert.match(message ?? '', /^after must be an integer from 0 to 9007199254740991/, after)
  }
})
