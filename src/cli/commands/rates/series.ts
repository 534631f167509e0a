import { atomically } from '../../../store/engine.ts'
import { raiseRevision } from '../../../store/meta.ts'
import { takeInstant } from '../../../store/rates/change-log.ts'
import { selectSeries, updateSeriesEnabled } from '../../../store/rates/series.ts'
import { listCommand, rowCommand } from '../rows.ts'

export const seriesList = listCommand({
  name: 'series list',
  select: async (db) =>
    (await selectSeries(db)).map(({ revision: _, last_data_date: _last, ...shown }) => shown),
  columns: {
    ID: 'id',
    PAIR: (one) => `${one.base_currency}/${one.quote_currency}`,
    SIDE: 'rate_type',
    CODE: 'external_code',
    SINCE: (one) => one.first_data_date ?? '-',
    STATE: (one) => (one.enabled ? 'enabled' : 'disabled'),
    NAME: 'name',
  },
})

export const seriesEnable = toggle('enable', true)
export const seriesDisable = toggle('disable', false)

function toggle(verb: string, enabled: boolean) {
  return rowCommand({
    name: `series ${verb}`,
    change: (db, id, { clock }) =>
      atomically(db, async (trx) => {
        const at = await takeInstant(trx, clock())
        if (!(await updateSeriesEnabled(trx, id, enabled, at.getTime()))) return undefined
        await raiseRevision(trx, at)
        return { id, enabled }
      }),
    line: ({ id }) => `series ${id} is ${verb}d`,
  })
}
