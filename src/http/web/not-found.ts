// The 404 of a person who mistyped an address: HTML without a script, in the language of the browser. Programs get JSON.
// The path is not shown, for it may contain a key.

import { createHash } from 'node:crypto'
import type { H3Event } from 'h3'
import { acceptedRanges } from '../endpoint/answers/accept.ts'
import type { Reply } from '../endpoint/endpoint.ts'

/** First segments of addresses that programs use, and of files. Addresses of other services are below /compat. */
const PROGRAM_PATHS =
  /^\/(?:api|compat|k|page|docs|session|t|mcp|openapi\.json|healthz|readyz|metrics|\.well-known)(?:\/|$)/i

const TEXTS = {
  es: {
    title: 'Esta página no existe',
    text: 'La dirección no es de cambista.',
    links: ['Ir a los tipos de cambio', 'Documentos', 'Estado'],
    other: '404 · <span lang="en">English: this page does not exist</span>',
  },
  en: {
    title: 'This page does not exist',
    text: 'The address is not one of cambista.',
    links: ['Go to the exchange rates', 'Documents', 'Status'],
    other: '404 · <span lang="es">Español: esta página no existe</span>',
  },
}
const SCREENS = ['#rates', '#documents', '#status']

const STYLE = `:root{color-scheme:light dark;--page:#f5f4ef;--card:#fff;--ink:#161a18;--quiet:#5a615d;--line:#dcdad2;--brand:#0b5a48;--on:#fff}
@media(prefers-color-scheme:dark){:root{--page:#101413;--card:#191e1c;--ink:#eceeec;--quiet:#a5ada9;--line:#333a37;--brand:#8fd8bf;--on:#0c1f19}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.25rem;background:var(--page);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:28rem;padding:2rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem}
svg{display:block;width:2.75rem;height:2.75rem;margin-bottom:1.75rem}
h1{margin:0 0 .25rem;font-size:1.5rem;line-height:1.25}
p{margin:0 0 1.25rem;color:var(--quiet)}
nav{display:flex;flex-wrap:wrap;gap:.5rem;margin-bottom:1.25rem}
a{display:inline-flex;align-items:center;min-height:2.75rem;padding:.25rem 1rem;border:1px solid var(--quiet);border-radius:.5rem;color:var(--ink);font-weight:600;text-decoration:none}
a:first-child{background:var(--brand);border-color:var(--brand);color:var(--on)}
a:focus-visible{outline:3px solid var(--brand);outline-offset:2px}
small{color:var(--quiet);font-size:.875rem}`

const MARK =
  '<svg viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="16" r="16" fill="#0b5a48"/><path d="M21.6 11.4a7.2 7.2 0 1 0 0 9.2M11.4 25.2 16.2 6.8M15.8 25.2l4.8-18.4" fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round"/></svg>'

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Returns the 404 for a browser; undefined: the client or the address is that of a program. */
export function notFoundPage({ req, url, context }: H3Event): Reply | undefined {
  const { method, headers } = req
  if (context.route !== undefined || (method !== 'GET' && method !== 'HEAD')) return undefined
  if (PROGRAM_PATHS.test(url.pathname) || !acceptsHtml(headers.get('accept'))) return undefined
  const language = prefersEnglish(headers.get('accept-language')) ? 'en' : 'es'
  return {
    status: 404,
    body: pageText(language, homeAddress(url.pathname)),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
      vary: 'Accept, Accept-Language',
    },
  }
}

/** Returns true if text/html is named: a program that accepts anything gets JSON. */
function acceptsHtml(accept: string | null): boolean {
  return acceptedRanges(accept ?? '').some(({ range, quality }) => range === 'text/html' && quality > 0)
}

function prefersEnglish(header: string | null): boolean {
  const ranges = acceptedRanges(header ?? '').filter(({ range }) => /^(?:en|es)\b/.test(range))
  const [first] = ranges.toSorted((a, b) => b.quality - a.quality)
  return first?.range.startsWith('en') ?? false
}

/** Address of the page relative to a path, since a proxy may serve both below another path. */
function homeAddress(path: string): string {
  return '../'.repeat(path.split('/').length - 2) || './'
}

function pageText(language: 'es' | 'en', home: string): string {
  const { title, text, links, other } = TEXTS[language]
  const anchors = SCREENS.map((href, at) => `<a href="${home}${href}">${links[at]}</a>`).join('')
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<title>${title} · cambista</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${STYLE}</style>
</head>
<body>
<main>${MARK}<h1>${title}</h1><p>${text}</p><nav>${anchors}</nav><small>${other}</small></main>
</body>
</html>
`
}
