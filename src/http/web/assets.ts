// Serves the page for people and its files, which contain no data: the page queries the APIs with its session.

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gunzipSync, gzipSync } from 'node:zlib'
import type { H3Event } from 'h3'
import * as v from 'valibot'
import { pageFiles } from '../../runtime/assets.ts'
import { AppError } from '../../runtime/errors.ts'
import { acceptsCoding } from '../endpoint/answers/accept.ts'
import { matchesTag } from '../endpoint/answers/answer-cache.ts'
import { nodeContext } from '../endpoint/answers/send.ts'
import type { Api } from '../endpoint/api.ts'
import { get, type Reply } from '../endpoint/endpoint.ts'
import { RATES_ERRORS } from '../figures/rates-errors.ts'
import type { HostNames } from '../listener/own-origin.ts'
import { targetPath } from '../listener/request-line.ts'
import { ownHostGuard } from './guard.ts'
import type { OpenPage } from './open-page.ts'

const unpack = promisify(gunzip)

const PAGE = 'page.html'
/** Attributes of `html` in the files made from the page: of an open network, and of invented values. */
const PAGE_MARKS = ['', ' data-open', ' data-invented', ' data-open data-invented'] as const
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  png: 'image/png',
  webmanifest: 'application/manifest+json',
}
// Allows the page its own scripts and styles, images from bytes, and requests to its server.
const PAGE_POLICY = contentPolicy("'self'", [
  "manifest-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
])
// Guides have styles of a file. Their one script only compares addresses.
const GUIDES_POLICY = contentPolicy("'self'", ["require-trusted-types-for 'script'", "trusted-types 'none'"])
// Scalar, the viewer of the reference, creates styles and markup by script. No other server is queried there either.
const REFERENCE_POLICY = contentPolicy("'self' 'unsafe-inline'", [])
const FILE_HEADERS = { 'cross-origin-resource-policy': 'same-origin' }
const HTML_HEADERS = {
  ...FILE_HEADERS,
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

/** Bundles the page of a checkout, and returns its folder. */
export type PageBundler = () => Promise<string>
type HtmlPath = '/' | '/docs' | '/docs/es' | '/docs/reference' | '/docs/es/reference'
/** `unpacked`: shared by all answers to clients without gzip; absent before the first of them. */
type PageFile = { packed: Uint8Array; tag: string; unpacked?: Promise<Uint8Array> }

/** API of `/` and its files, without authentication. The attributes of `html` are PAGE_MARKS. */
export function pageAssetsApi(
  names: HostNames,
  openPage: Pick<OpenPage, 'isOpen'>,
  isInvented: () => boolean,
  bundlePage: PageBundler | undefined,
): Api {
  const checkHost = ownHostGuard(names)
  let files: Promise<ReadonlyMap<string, PageFile>> | undefined // read at the first request
  const fileNamed = async (name: string) => {
    files ??= readFiles(bundlePage)
    // The next line throws.
    files.catch(() => {
      files = undefined // the next client tries again
    })
    const file = (await files).get(name)
    if (!file) throw new AppError('not-found', 'Not found')
    return file
  }
  const htmlEndpoint = (path: HtmlPath, name: string, policy: string) =>
    get({
      path,
      ignoresUnknown: true, // an error could repeat a key in the URL
      answer: v.any(),
      async handle({ event }) {
        const mark = PAGE_MARKS[Number(openPage.isOpen(event)) + 2 * Number(isInvented())]
        const file = await fileNamed(name === PAGE ? `${mark}${PAGE}` : name)
        return fileReply(event, name, file, {
          ...HTML_HEADERS,
          'content-security-policy': policy,
        })
      },
    })
  return {
    prefixes: ['/page', '/docs'],
    errors: RATES_ERRORS,
    isForWebsites: false,
    guard(event) {
      // h3 sets the path / for a request target that is not a URL.
      const isRoot = ['', '/'].includes(targetPath(nodeContext(event).req.url ?? ''))
      if (event.url.pathname === '/' && !isRoot) throw new AppError('not-found', 'Not found')
      checkHost(event)
    },
    endpoints: [
      htmlEndpoint('/', PAGE, PAGE_POLICY),
      htmlEndpoint('/docs', 'docs.html', GUIDES_POLICY),
      htmlEndpoint('/docs/es', 'docs.es.html', GUIDES_POLICY),
      htmlEndpoint('/docs/reference', 'reference.html', REFERENCE_POLICY),
      htmlEndpoint('/docs/es/reference', 'reference.es.html', REFERENCE_POLICY),
      get({
        path: '/page/{file}',
        ignoresUnknown: true,
        params: v.object({ file: v.string() }),
        answer: v.any(),
        async handle({ event, params }) {
          const file = await fileNamed(params.file.endsWith('.html') ? '' : params.file) // HTML names have no hash
          const headers = { ...FILE_HEADERS, 'cache-control': 'public, max-age=31536000, immutable' }
          return fileReply(event, params.file, file, headers)
        },
      }),
    ],
  }
}

function contentPolicy(styles: string, more: readonly string[]): string {
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

async function readFiles(bundlePage: PageBundler | undefined): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map(await pageFiles(bundlePage))
  const page = files.get(PAGE)
  if (page) {
    const html = gunzipSync(page).toString()
    for (const mark of PAGE_MARKS.slice(1))
      files.set(`${mark}${PAGE}`, gzipSync(html.replace(/<html(?=[ >])/, `<html${mark}`)))
  }
  return new Map(
    [...files].map(([name, packed]) => {
      const tag = createHash('sha256').update(packed).digest('base64url').slice(0, 22)
      return [name, { packed, tag }]
    }),
  )
}

async function fileReply(
  event: H3Event,
  name: string,
  file: PageFile,
  baseHeaders: Readonly<Record<string, string>>,
): Promise<Reply> {
  const { packed, tag } = file
  const { headers: requestHeaders } = event.req
  const ifNoneMatch = requestHeaders.get('if-none-match') ?? ''
  const isPacked = acceptsCoding(requestHeaders.get('accept-encoding'), 'gzip')
  // A client may have cached the other encoding.
  const [etag, otherTag] = isPacked ? [`"${tag}-gzip"`, `"${tag}"`] : [`"${tag}"`, `"${tag}-gzip"`]
  const headers: Record<string, string> = { ...baseHeaders, etag, vary: 'Accept-Encoding' }
  if (matchesTag(ifNoneMatch, etag) || matchesTag(ifNoneMatch, otherTag))
    return { status: 304, body: '', headers }
  headers['content-type'] = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  if (isPacked) return { body: packed, headers: { ...headers, 'content-encoding': 'gzip' } }
  file.unpacked ??= unpack(packed)
  return { body: await file.unpacked, headers }
}
