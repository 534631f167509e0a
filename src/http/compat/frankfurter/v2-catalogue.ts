// Catalogue of Frankfurter v2: its currencies, and the one provider.

import { listCurrencies } from '../../../domain/rates/crosses.ts'
import { listSeries, withColumns } from '../../../domain/rates/queries.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../runtime/errors.ts'
import { dayNumber, type IsoDate, isoDate } from '../../../values/dates.ts'
import type { AnyEndpoint } from '../../endpoint/endpoint.ts'
import { currencyName, currencySymbol } from '../codes.ts'
import { type CompatDeps, compatEndpoint, PROVIDER } from '../shape.ts'
import { checkNames } from './v2-query.ts'

type CatalogueCurrency = {
  iso_code: string
  iso_numeric: null
  name: string
  symbol: string | null
  start_date: IsoDate | null
  end_date: IsoDate | null
}

export function catalogueEndpoints(deps: CompatDeps, root: '/compat/frankfurter/v2'): AnyEndpoint[] {
  return [
    compatEndpoint(deps, {
      path: `${root}/currencies`,
      parse({ query, today }) {
        checkNames(query, ['scope', 'providers'])
        return { today }
      },
      find: currencies,
    }),
    // Frankfurter rejects CSV of the currencies too.
    compatEndpoint(deps, {
      path: `${root}/currencies.csv`,
      parse() {
        throw new AppError('not-acceptable', 'not acceptable')
      },
      find: () => undefined,
      encode: () => '',
    }),
    compatEndpoint(deps, {
      path: `${root}/currency/{code}`,
      parse({ query, params, today }) {
        checkNames(query, [])
        return { code: params.code?.toUpperCase() ?? '', today }
      },
      async find(snapshot, { code, today }) {
        const currency = (await currencies(snapshot, { today })).find(({ iso_code }) => iso_code === code)
        if (!currency) throw new AppError('not-found', 'not found')
        return { ...currency, providers: ['BCCR'] }
      },
    }),
    compatEndpoint(deps, {
      path: `${root}/providers`,
      parse({ query, today }) {
        checkNames(query, [])
        return { today }
      },
      async find(snapshot, query) {
        const all = await currencies(snapshot, query)
        const days = (pick: (one: CatalogueCurrency) => IsoDate | null) =>
          all.flatMap((one) => pick(one) ?? []).sort()
        const { name, website } = snapshot.providers.find(({ code }) => code === PROVIDER) ?? {}
        return [
          {
            ...{ key: 'BCCR', name, country_code: 'CR', rate_type: 'reference rate', pivot_currency: 'CRC' },
            ...{ data_url: website, terms_url: null },
            start_date: days(({ start_date }) => start_date)[0] ?? null,
            end_date: days(({ end_date }) => end_date).at(-1) ?? null,
            ...{ publish_cadence: 'daily', publishes_missed: 0 },
            currencies: all.map(({ iso_code }) => iso_code),
          },
        ]
      },
    }),
  ]
}

/** Every currency, with the first and last day, up to today, on which a series of it has a value. */
function currencies(
  snapshot: RateSnapshot,
  { today }: { today: IsoDate },
): CatalogueCurrency[] | Promise<CatalogueCurrency[]> {
  const ofBank = listSeries(snapshot, { provider: PROVIDER })
  return withColumns(snapshot, ofBank, (columns) =>
    listCurrencies(snapshot, PROVIDER).map((code) => {
      const days: number[] = []
      for (const [at, { base_currency, quote_currency }] of ofBank.entries()) {
        const seriesDays = columns[at]?.days
        if ((base_currency === code || quote_currency === code) && seriesDays?.length)
          days.push(seriesDays[0] ?? 0, seriesDays.at(-1) ?? 0)
      }
      const dates = {
        start_date: day(Math.min(...days)),
        end_date: day(Math.min(Math.max(...days), dayNumber(today))),
      }
      return {
        iso_code: code,
        iso_numeric: null,
        name: currencyName(code),
        symbol: currencySymbol(code),
        ...dates,
      }
    }),
  )
}

function day(number: number): IsoDate | null {
  return Number.isFinite(number) ? isoDate(number) : null
}
