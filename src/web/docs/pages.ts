// HTML of the guides and of the frame round the reference, in both languages. The guides are the topic `guides` of the
// manual, and need no script.

import { Marked } from 'marked'

export type DocsLanguage = 'en' | 'es'

/** Returns the name of a bundled file with its hash. */
type FileName = (source: string) => string

const TEXTS = {
  en: {
    guides: 'Guides',
    reference: 'Reference',
    page: 'Back to the page',
    contents: 'Guides',
    title: 'cambista: guides',
    referenceTitle: 'cambista: reference of the API',
    noScript: 'The reference needs JavaScript; the description itself is at',
    loading: 'Loading the reference…',
    other: { language: 'es', name: 'Español' },
  },
  es: {
    guides: 'Guías',
    reference: 'Referencia',
    page: 'Volver a la página',
    contents: 'Guías',
    title: 'cambista: guías',
    referenceTitle: 'cambista: referencia de la API',
    noScript: 'La referencia necesita JavaScript; la descripción misma está en',
    loading: 'Cargando la referencia…',
    other: { language: 'en', name: 'English' },
  },
} as const satisfies Record<DocsLanguage, object>

/** Permission and purpose by method and path: ROUTES of src/http/routes.ts. */
type Routes = Readonly<Record<string, readonly [permission: string, purpose: string]>>

/** Paths that are not in the description of the APIs. */
const UNLISTED = /^\/(?:$|docs|page|metrics|openapi|compat)|(?<!\/documents)\.(?:csv|ndjson)$/
const CREDENTIALS: Readonly<Record<string, string>> = {
  open: '',
  session: 'Cookie',
  key: 'X-API-Key',
  'url-key': 'X-API-Key',
  'key-or-token': 'X-API-Key, Bearer',
}

const noToken = () => undefined
const renderer = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${headingId(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
  },
  // HTML is text, and an address alone is no link.
  tokenizer: { html: noToken, tag: noToken, url: noToken },
})

/** Files of the pages by their name in the bundle. */
export function docsPages(
  manual: Readonly<Record<DocsLanguage, string>>,
  routes: Routes,
  fileName: FileName,
): Record<string, string> {
  return {
    'docs.html': guidesPage('en', manual.en, fileName),
    'docs.es.html': guidesPage('es', manual.es, fileName),
    'reference.html': referencePage('en', routes, fileName),
    'reference.es.html': referencePage('es', routes, fileName),
  }
}

function guidesPage(language: DocsLanguage, markdown: string, fileName: FileName): string {
  const texts = TEXTS[language]
  const html = renderMarkdown(markdown)
  const [intro = ''] = html.split('<h2 ', 1)
  const links = [...html.matchAll(/<h2 id="(.+)">(.+)<\/h2>/g)].map(
    ([, id, title = '']) => `<li><a href="#${id}">${title.replaceAll(/<\/?code>/g, '')}</a></li>`,
  )
  const main = `<main class="guides">
<div class="intro">
${intro}</div>
<nav class="contents" aria-label="${texts.contents}"><ol>
${links.join('\n')}
</ol></nav>
<article>
${html.slice(intro.length)}</article>
</main>`
  return frame(language, 'guides', { title: texts.title, main, fileName, scripts: ['anchors.js'] })
}

/** Returns the HTML of a text. The keyboard reaches each block that scrolls. */
function renderMarkdown(text: string): string {
  const html = renderer.parse(text, { async: false })
  return html
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('&#39;', "'")
}

/** Returns the anchor of a heading: its letters and digits without accents, joined by hyphens. */
function headingId(text: string): string {
  const plain = text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return plain.replaceAll(/[^a-z\d]+/g, '-').replaceAll(/^-|-$/g, '')
}

function referencePage(language: DocsLanguage, routes: Routes, fileName: FileName): string {
  const { referenceTitle: title, noScript, loading } = TEXTS[language]
  const main = `<main><h1 class="unseen">${title}</h1>
<div id="reference"></div>
<div class="operations">
<p role="status">${loading}</p>
<noscript><p>${noScript} <a href="${rootAddress(language, 'reference')}openapi.json">openapi.json</a>.</p></noscript>
<ol lang="en">
${operationItems(routes)}
</ol>
</div></main>`
  const scripts = ['reference.js', 'docs.js']
  return frame(language, 'reference', { title, main, fileName, scripts, data: 'openapi.json' })
}

/** Returns a list item for each operation. The reference shows them until its script has drawn its own. */
function operationItems(routes: Routes): string {
  const items = Object.entries(routes).flatMap(([name, [permission, purpose]]) => {
    const [method = '', path = ''] = name.split(' ')
    if (UNLISTED.test(path)) return []
    const credential = CREDENTIALS[permission] ?? 'Bearer'
    const mark = credential && ` <small>${credential}</small>`
    return [`<li>${purpose}<br><code>${method} ${path}</code>${mark}</li>`]
  })
  return items.join('\n')
}

/** Returns the address of the page relative to one of /docs, since a proxy may serve both below another path. */
function rootAddress(language: DocsLanguage, kind: 'guides' | 'reference'): string {
  return '../'.repeat(Number(language === 'es') + Number(kind === 'reference')) || './'
}

function frame(
  language: DocsLanguage,
  kind: 'guides' | 'reference',
  parts: { title: string; main: string; fileName: FileName; scripts: readonly string[]; data?: string },
): string {
  const { title, main, fileName, scripts, data } = parts
  const root = rootAddress(language, kind)
  const preload =
    data === undefined ? '' : `\n<link rel="preload" href="${root}${data}" as="fetch" crossorigin>`
  const texts = TEXTS[language]
  const path = (one: DocsLanguage, place: typeof kind) =>
    `${root}docs${one === 'es' ? '/es' : ''}${place === 'reference' ? '/reference' : ''}`
  const link = (place: typeof kind) =>
    `<a href="${path(language, place)}"${place === kind ? ' aria-current="page"' : ''}>${texts[place]}</a>`
  const { language: other, name } = texts.other
  const html = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}page/${fileName('guides.css')}">${preload}
${scripts.map((script) => `<script defer src="${root}page/${fileName(script)}"></script>`).join('\n')}
</head>
<body>
<header class="bar">
<a class="brand" href="${root}" title="${texts.page}">← cambista</a>
<nav>${link('guides')} ${link('reference')} <a href="${path(other, kind)}" hreflang="${other}" lang="${other}">${name}</a></nav>
</header>
${main}
</body>
</html>
`
  // Spaces compress better than line ends.
  return html.replaceAll(/(<pre.*?<\/pre>)|\n/gs, (_, code: string = ' ') => code)
}
