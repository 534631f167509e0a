// One value as plain text, for a cell of a spreadsheet: WEBSERVICE() takes an address and gives the text that it finds there.

import * as v from 'valibot'
import { earliest, type IsoDate, isIsoDate } from '../../dates.ts'
import { crossesOn, currenciesOf } from '../../domain/rates/crosses.ts'
import { AppError } from '../../errors.ts'
import type { Side } from '../../store/tables.ts'
import type { Api } from '../api/api.ts'
import type { ErrorShape } from '../api/errors.ts'
import { shownCode } from './codes.ts'
import { type Asked, fewestDecimals, heldOf, PROVIDER, type ShapeDeps, shapeEndpoint } from './shape.ts'

type Query = { base: string; quote: string; day: IsoDate; side: Side; decimal: string }

const TYPE = 'text/plain; charset=utf-8'
const ERRORS: ErrorShape = {
  challenge: 'ApiKey',
  contentType: TYPE,
  body: (_, message) => message,
  schema: v.string(),
  invalid: v.string(),
}

export function valorApi(deps: ShapeDeps): Api {
  const endpoint = shapeEndpoint(deps, {
    path: '/compat/valor',
    summary: 'One value as plain text, for spreadsheets',
    contentType: TYPE,
    ask: queryOf,
    async find(snapshot, { base, quote, day, side }) {
      const known = currenciesOf(snapshot, PROVIDER)
      for (const code of [base, quote]) {
        if (known.includes(code)) continue
        deps.missed.indicator('valor', code)
        throw new AppError('not-found', `no rates of ${shownCode(code)} are stored`)
      }
      const [cross] = heldOf(
        deps,
        await crossesOn(snapshot, { provider: PROVIDER, base, quotes: [quote], side, day }),
      )
      if (!cross) throw new AppError('not-found', `no rate of ${base} in ${quote} is held on ${day}`)
      return cross
    },
    encode: ({ rate }, { decimal }) => rate.replace('.', decimal),
    roundedTo: (cross) => fewestDecimals([cross]),
  })
  return { prefixes: ['/compat/valor'], errors: ERRORS, endpoints: [endpoint] }
}

function queryOf({ query, today, side }: Asked): Query {
  const day = query.get('fecha') ?? today
  if (!isIsoDate(day)) throw new AppError('invalid', 'fecha must be a calendar day written YYYY-MM-DD')
  const decimal = query.get('decimal') || '.'
  if (decimal !== '.' && decimal !== ',') throw new AppError('invalid', 'decimal must be . or ,')
  const code = (name: string, fallback: string) => (query.get(name) ?? fallback).trim().toUpperCase()
  return { base: code('de', 'USD'), quote: code('a', 'CRC'), day: earliest(day, today), side, decimal }
}
