// A damaged value of an indicator. Its day is a hole, and the error of a single value names it (decisions#damaged).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atomically } from '../../../src/store/engine.ts'
import { startIndicatorApp, TBP } from '../../support/rates/indicator-app.ts'
import { openTestDatabase } from '../../support/temporary.ts'

const DAY = '2026-03-20'
const PATH = `/api/v1/indicators/${TBP.code}`

for (const value of ['3,25', '3.250', '', '4..5', '-0']) {
  test(`the value ${JSON.stringify(value)} of an indicator is never answered`, async (t) => {
    const app = await startIndicatorApp(t, [TBP])
    app.values[TBP.code] = (day) => (day <= '2026-03-24' ? '4.5' : undefined)
    await app.sync()
    await app.enable([TBP.code], '2026-03-01')
    await app.read()
    const db = openTestDatabase(app.dataDir)
    await atomically(db, async (trx) => {
      await trx.updateTable('indicator_values').set({ value }).where('value_date', '=', DAY).execute()
      await trx
        .updateTable('meta')
        .set((of) => ({ indicator_revision: of('indicator_revision', '+', 1) }))
        .execute()
    })
    await db.destroy()
    const latest = await app.get(`${PATH}/latest?on=${DAY}`)
    assert.equal(latest.status, 503, await latest.clone().text())
    assert.match(await latest.text(), /the stored value of indicator 423 on 2026-03-20 is damaged/)
    assert.equal((await app.get(`${PATH}/latest?on=2026-03-19`)).status, 200)
    assert.equal((await app.get(`${PATH}/latest?on=2026-03-21`)).status, 200)
    const history = await app.json<{ holes: object[]; points: { value: string }[] }>(
      `${PATH}/history?from=2026-03-18&to=2026-03-22`,
    )
    assert.deepEqual(history.holes, [{ from: DAY, to: DAY }])
    assert.deepEqual(
      history.points.map((point) => point.value),
      ['4.5', '4.5', '4.5', '4.5'],
    )
  })
}
