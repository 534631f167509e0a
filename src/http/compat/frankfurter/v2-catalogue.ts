// What Frankfurter v2 says of itself: its currencies, and the one provider.

import { dayOf, type IsoDate, isoOf } from '../../../dates.ts'
import { currenciesOf } from '../../../domain/rates/crosses.ts'
import { withColumns } from '../../../domain/rates/queries.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../errors.ts'
import type { AnyEndpoint } from '../../api/endpoint.ts'
import { JSON_TYPE } from '../../api/forms.ts'
import { nameOfCurrency, symbolOfCurrency } from '../codes.ts'
import { PROVIDER, type ShapeDeps, shapeEndpoint } from '../shape.ts'
import { checkNames } from './v2-query.ts'

type Currency = {
  iso_code: string
  iso_numeric: null
  name: string
  symbol: string | null
  start_date: IsoDate | null
  end_date: IsoDate | null
}

export function catalogueEndpoints(deps: ShapeDeps, root: string): AnyEndpoint[] {
  return [
    shapeEndpoint(deps, {
      path: `${root}/currencies`,
      summary: 'Frankfurter v2: currencies',
      contentType: JSON_TYPE,
      ask({ query, today }) {
        checkNames(query, ['scope', 'providers'])
        return { today }
      },
      find: currencies,
      encode: (found) => JSON.stringify(found),
    }),
    // Frankfurter has no CSV of it either, and says so.
    shapeEndpoint(deps, {
      path: `${root}/currencies.csv`,
      summary: 'Frankfurter v2: currencies are not there as CSV',
      contentType: JSON_TYPE,
      ask() {
        throw new AppError('not-acceptable', 'not acceptable')
      },
      find: () => undefined,
      encode: () => '',
    }),
    shapeEndpoint(deps, {
      path: `${root}/currency/{code}`,
      summary: 'Frankfurter v2: one currency',
      contentType: JSON_TYPE,
      ask({ query, params, today }) {
        checkNames(query, [])
        return { code: params.code?.toUpperCase() ?? '', today }
      },
      async find(snapshot, { code, today }) {
        const found = (await currencies(snapshot, { today })).find(({ iso_code }) => iso_code === code)
        if (!found) throw new AppError('not-found', 'not found')
        return { ...found, providers: ['BCCR'] }
      },
      encode: (found) => JSON.stringify(found),
    }),
    shapeEndpoint(deps, {
      path: `${root}/providers`,
      summary: 'Frankfurter v2: the provider',
      contentType: JSON_TYPE,
      ask({ query, today }) {
        checkNames(query, [])
        return { today }
      },
      async find(snapshot, asked) {
        const all = await currencies(snapshot, asked)
        const days = (pick: (one: Currency) => IsoDate | null) => all.flatMap((one) => pick(one) ?? []).sort()
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
      encode: (found) => JSON.stringify(found),
    }),
  ]
}

/** Every currency, with the first and last day, up to today, on which a series of it has a value. */
function currencies(snapshot: RateSnapshot, { today }: { today: IsoDate }): Currency[] | Promise<Currency[]> {
  return withColumns(snapshot, snapshot.series, (columns) =>
    currenciesOf(snapshot, PROVIDER).map((code) => {
      const days: number[] = []
      for (const [at, { base_currency, quote_currency }] of snapshot.series.entries()) {
        const own = columns[at]?.days
        if ((base_currency === code || quote_currency === code) && own?.length)
          days.push(own[0] ?? 0, own.at(-1) ?? 0)
      }
      const dates = {
        start_date: day(Math.min(...days)),
        end_date: day(Math.min(Math.max(...days), dayOf(today))),
      }
      return {
        iso_code: code,
        iso_numeric: null,
        name: nameOfCurrency(code),
        symbol: symbolOfCurrency(code),
        ...dates,
      }
    }),
  )
}

function day(number: number): IsoDate | null {
  return Number.isFinite(number) ? isoOf(number) : null
}
