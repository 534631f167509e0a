// The page for people and the files that it is made of. They hold no data: what it shows it asks of the APIs, with the
// credentials of its session.

import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { H3Event } from 'h3'
import * as v from 'valibot'
import { pageFiles } from '../../assets.ts'
import { AppError } from '../../errors.ts'
import { acceptsCoding } from '../api/accept.ts'
import { matchesTag } from '../api/answer-cache.ts'
import type { Api } from '../api/api.ts'
import { get, type Reply } from '../api/endpoint.ts'
import { nodeOf } from '../api/send.ts'
import type { OwnNames } from '../listener/own-origin.ts'
import { pathOf } from '../listener/request-line.ts'
import { RATES_ERRORS } from '../rates/errors.ts'
import { ownHostGuard } from './guard.ts'

const PAGE = 'page.html'
const DOCS = 'docs.html'
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}
// Nothing is allowed but what the page needs: its own scripts and styles, images that it made of bytes, and its server.
const PAGE_POLICY = policyOf("'self'", ["require-trusted-types-for 'script'", "trusted-types 'none'"])
// Scalar makes its styles and its markup by script. It asks no other server either.
const DOCS_POLICY = policyOf("'self' 'unsafe-inline'", [])
const OF_FILES = { 'cross-origin-resource-policy': 'same-origin' }
const OF_HTML = {
  ...OF_FILES,
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

type PageFile = { packed: Uint8Array; tag: string }

/** `/` and the files that it names, open to everybody. */
export function pageAssetsApi(names: OwnNames): Api {
  const checkHost = ownHostGuard(names)
  let files: Promise<ReadonlyMap<string, PageFile>> | undefined // read when they are first asked for
  const fileNamed = async (name: string) => {
    files ??= readFiles()
    files.catch(() => {
      files = undefined // the next client tries again
    })
    const file = (await files).get(name)
    if (!file) throw new AppError('not-found', 'Not found')
    return file
  }
  const htmlAt = (path: string, summary: string, name: string, policy: string) =>
    get({
      path,
      summary,
      open: true,
      ignoresUnknown: true, // and reads none: an error would repeat a key that a client put there
      answer: v.any(),
      async handle({ event }) {
        return replyWith(event, name, await fileNamed(name), {
          ...OF_HTML,
          'content-security-policy': policy,
        })
      },
    })
  return {
    prefixes: ['/page', '/docs'],
    errors: RATES_ERRORS,
    isForWebsites: false,
    guard(event) {
      // A target that is no URL has the path / in the framework's eyes.
      const isRoot = ['', '/'].includes(pathOf(nodeOf(event).req.url ?? ''))
      if (event.url.pathname === '/' && !isRoot) throw new AppError('not-found', 'Not found')
      checkHost(event)
    },
    endpoints: [
      htmlAt('/', 'The page for people', PAGE, PAGE_POLICY),
      htmlAt('/docs', 'The reference of the APIs, to read and to try', DOCS, DOCS_POLICY),
      get({
        path: '/page/{file}',
        summary: 'A file of the page; its name changes with its bytes',
        open: true,
        ignoresUnknown: true,
        params: v.object({ file: v.string() }),
        answer: v.any(),
        async handle({ event, params }) {
          const file = await fileNamed(params.file.endsWith('.html') ? '' : params.file) // their names have no hash
          const headers = { ...OF_FILES, 'cache-control': 'public, max-age=31536000, immutable' }
          return replyWith(event, params.file, file, headers)
        },
      }),
    ],
  }
}

function policyOf(styles: string, more: readonly string[]): string {
  const allowed = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' blob: data:",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return [...allowed, ...more].join('; ')
}

async function readFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const files = [...(await pageFiles())]
  return new Map(
    files.map(([name, packed]) => {
      const tag = createHash('sha256').update(packed).digest('base64url').slice(0, 22)
      return [name, { packed, tag }]
    }),
  )
}

function replyWith(
  event: H3Event,
  name: string,
  { packed, tag }: PageFile,
  own: Readonly<Record<string, string>>,
): Reply {
  const { headers: sent } = event.req
  const held = sent.get('if-none-match') ?? ''
  const isPacked = acceptsCoding(sent.get('accept-encoding'), 'gzip')
  const [etag, other] = isPacked ? [`"${tag}-gzip"`, `"${tag}"`] : [`"${tag}"`, `"${tag}-gzip"`]
  const headers: Record<string, string> = { ...own, etag, vary: 'Accept-Encoding' }
  if (matchesTag(held, etag) || matchesTag(held, other)) return { status: 304, body: '', headers }
  headers['content-type'] = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  if (isPacked) headers['content-encoding'] = 'gzip'
  return { body: isPacked ? packed : gunzipSync(packed), headers }
}
