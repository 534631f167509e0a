// Support for the tests of services with keys: an app with few currencies of known values, a key for URLs.

import assert from 'node:assert/strict'
import { inventedValue } from '../../../src/demo/invented-rates.ts'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { insertApiKey } from '../../../src/store/access/api-keys.ts'
import type { IsoDate } from '../../../src/values/dates.ts'
import type { TestApp } from '../../support/app.ts'
import { type Answer, asOtherProcess, openApp, send } from '../support.ts'

export const TODAY = '2026-03-24'
export const FRIDAY = '2026-03-20'
export const SUNDAY = '2026-03-22'
/** The first day of the data. */
export const FIRST = '2026-01-01'
export const KEY = 'cbk_made-for-urls'
export const VALUES: Readonly<Record<string, string>> = { 317: '490.5', 318: '500', 325: '150', 333: '1.25' }

/** An app whose dollar, yen and euro are the same on each day; the others are invented. */
export async function openKeyedApp({ isRounded = false, serveRounded = false } = {}): Promise<TestApp> {
  const app = await openApp({
    // Without a token the website of the bank is read, which rounds.
    ...(isRounded && { token: null }),
    bank: {
      value: (code, day) =>
        code === '317' || code === '318' || (!isRounded && inventedValue(code, day) && day <= TODAY)
          ? VALUES[code]
          : undefined,
    },
    listen: { compat: { open: undefined, serveRounded } },
  })
  await app.sync()
  await asOtherProcess(app, (db) =>
    insertApiKey(db, {
      name: 'in urls',
      hash: hashOfSecret(KEY),
      createdAt: app.clock.read().toISOString(),
      kind: 'url',
    }),
  )
  return app
}

/** GET below /k/KEY: the body of an answer with `status`. */
export async function readBody(app: TestApp, path: string, status = 200): Promise<string> {
  const { status: answerStatus, body } = await send(`${app.app.url}/k/${KEY}${path}`)
  assert.equal(answerStatus, status, `${path}: ${answerStatus} ${body}`)
  return body
}

/** GET below /k/KEY: the parsed JSON of an answer with `status`. */
export async function readJson<T = Record<string, unknown>>(
  app: TestApp,
  path: string,
  status = 200,
): Promise<T> {
  return JSON.parse(await readBody(app, path, status)) as T
}

/** Sends a key in each way that programs of these services use. */
export async function sendKeyEachWay(app: TestApp, path: string): Promise<[way: string, Answer][]> {
  const and = path.includes('?') ? '&' : '?'
  const url = `${app.app.url}${path}`
  const basic = Buffer.from(`anyone:${KEY}`).toString('base64')
  return Promise.all([
    ...(['access_key', 'app_id', 'apikey', 'api_key', 'key'] as const).map(
      async (name): Promise<[string, Answer]> => [name, await send(`${url}${and}${name}=${KEY}`)],
    ),
    ...(
      [
        ['X-API-Key', KEY],
        ['X-API-Key', app.key],
        ['apikey', KEY],
        ['Authorization', `Bearer ${KEY}`],
        ['Authorization', `Basic ${basic}`],
      ] as const
    ).map(
      async ([name, value]): Promise<[string, Answer]> => [
        `${name}: ${value}`,
        await send(url, { headers: { [name]: value } }),
      ],
    ),
    send(`${app.app.url}/k/${KEY}${path}`).then((answer): [string, Answer] => ['in the path', answer]),
  ])
}

/** The literal digits of a number in a JSON text, at the path `names`. */
export function numberLiteral(json: string, ...names: string[]): string | undefined {
  const root = JSON.parse(json, (_, value, context?: { source?: string }) =>
    typeof value === 'number' ? { digits: context?.source } : value,
  ) as unknown
  const node = names.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], root)
  return (node as { digits?: string } | undefined)?.digits
}

/** Seconds since 1970 of a moment in UTC. */
export function seconds(day: IsoDate, time: string): number {
  return Date.parse(`${day}T${time}Z`) / 1000
}
