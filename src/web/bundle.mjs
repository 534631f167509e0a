// Bundles the page: scripts and styles with their hash in the name, and the HTML that refers to them. Files are gzipped
// as served. Equal sources give equal bytes.

import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import reference from '@scalar/fastify-api-reference'
import * as esbuild from 'esbuild'
import fastify from 'fastify'
import { docsPages } from './docs/pages.ts'

const HERE = import.meta.dirname
const ROOT = join(HERE, '../..')
// zlib's memory levels change the size of a file by up to 1 %. The smallest result is used.
const MEMORY_LEVELS = [6, 7, 8, 9]
const OTHER_LINES_AND_SCALES =
  /^\t\(paths\.(?:stepped|bars|spline) *= \w+\);\n|sc\.distr (?:== [34]|>= 3)(?: && sc\.log == \d+)? \? \w+(?:[XY]|Splits|Filt) : /gm
// Guides of /docs, a topic of the manual.
const GUIDES = { en: join(ROOT, 'src/manual/guides.md'), es: join(ROOT, 'src/manual/es/guides.md') }
// Files of the program that the page imports (test/architecture.test.ts).
const VALUES = ['dates', 'fraction', 'intervals'].map((name) => join(ROOT, `src/values/${name}.ts`))
const CACHE = join(ROOT, 'node_modules/.cache/cambista')

/**
 * Returns the folder with the bundle of the present sources, and bundles them if it does not exist. `routes`: operations
 * that the reference lists.
 */
export async function bundledPage(routes) {
  const folder = join(CACHE, `page-${sourcesHash(routes)}`)
  if (fs.existsSync(folder)) return folder
  fs.mkdirSync(CACHE, { recursive: true })
  const temporary = fs.mkdtempSync(join(CACHE, 'making-page-'))
  await bundlePage(temporary, routes)
  try {
    fs.renameSync(temporary, folder)
  } catch (error) {
    fs.rmSync(temporary, { recursive: true })
    if (!fs.existsSync(folder)) throw error // else another process was faster
  }
  return folder
}

/** Writes the bundle into a folder. @returns the paths of its sources */
export async function bundlePage(folder, routes) {
  const { version } = JSON.parse(fs.readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const options = {
    absWorkingDir: ROOT,
    outdir: folder,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    target: ['chrome120', 'firefox121', 'safari17'],
    legalComments: 'none', // the licences are in THIRD-PARTY-LICENSES
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    logLevel: 'warning',
    plugins: [
      { name: 'lean-chart', setup: removePlotPaths },
      { name: 'no-legend', setup: removePlotLegend },
      { name: 'one-shell', setup: shareShell },
    ],
  }
  const app = await esbuild.build({
    ...options,
    entryPoints: { app: 'src/web/app.tsx', style: 'src/web/style.css', views: 'src/web/views.css' },
    format: 'esm',
    splitting: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { CAMBISTA_VERSION: JSON.stringify(version) },
  })
  const boot = await esbuild.build({
    ...options,
    entryPoints: {
      boot: 'src/web/boot.ts',
      anchors: 'src/web/docs/anchors.ts',
      docs: 'src/web/docs/reference.ts',
      guides: 'src/web/docs/guides.css',
    },
    format: 'iife',
  })
  const shell = shellName(app.outputFiles)
  const isUnused = ({ path }) => basename(path).startsWith('app-')
  const files = [...app.outputFiles.filter((one) => !isUnused(one)), ...boot.outputFiles]
  const names = files.map(({ path }) => path.slice(folder.length + 1))
  for (const [index, { contents }] of files.entries()) pack(join(folder, names[index]), contents)
  const script = await referenceScript()
  names.push(`reference-${createHash('sha256').update(script).digest('hex').slice(0, 8)}.js`)
  pack(join(folder, names.at(-1)), script)
  names.push(...packIcons(folder))
  const fileName = (source) => {
    const [name, ending] = source.split('.')
    const file = names.find((one) => one.startsWith(`${name}-`) && one.endsWith(`.${ending}`))
    if (!file) throw new Error(`a page refers to ${source}, which the bundle lacks`)
    return file
  }
  const page = fs
    .readFileSync(join(HERE, 'page.html'), 'utf8')
    .replace('{shell.js}', shell)
    .replace(/\{([\w-]+\.\w+)\}/g, (_, source) => fileName(source))
  const [en, es] = [GUIDES.en, GUIDES.es].map((path) => fs.readFileSync(path, 'utf8'))
  const docs = docsPages({ en, es }, routes, fileName)
  for (const [name, text] of Object.entries({ 'page.html': page, ...docs })) pack(join(folder, name), text)
  return [...Object.keys(app.metafile.inputs), ...Object.keys(boot.metafile.inputs)]
}

/**
 * Returns the name of the chunk that runs the app. The app's own file only imports it, and the page loads the chunk one
 * round trip earlier without that file.
 */
function shellName(outputFiles) {
  const app = outputFiles.find(({ path }) => basename(path).startsWith('app-'))
  const [, name] = /^import"\.\/(chunk-\w+\.js)";\s*$/.exec(app.text) ?? []
  if (name === undefined) throw new Error('the app is not one chunk')
  return name
}

/** Packs the icons and the manifest that refers to them. @returns their names */
function packIcons(folder) {
  const packHashed = (name, ending, contents) => {
    const hash = createHash('sha256').update(contents).digest('hex').slice(0, 8)
    const file = `${name}-${hash}.${ending}`
    pack(join(folder, file), contents)
    return file
  }
  const packIcon = (size) =>
    packHashed(`icon-${size}`, 'png', fs.readFileSync(join(HERE, `icons/icon-${size}.png`)))
  const icons = [192, 512].map((size) => ({ size, file: packIcon(size) }))
  const manifest = {
    name: 'cambista',
    short_name: 'cambista',
    start_url: '../',
    scope: '../',
    display: 'minimal-ui',
    background_color: '#f5f4ef',
    theme_color: '#0b5a48',
    icons: icons.flatMap(({ size, file }) =>
      ['any', 'maskable'].map((purpose) => ({
        src: file,
        sizes: `${size}x${size}`,
        type: 'image/png',
        purpose,
      })),
    ),
  }
  const touchIcon = packIcon(180)
  return [
    ...icons.map(({ file }) => file),
    touchIcon,
    packHashed('manifest', 'webmanifest', JSON.stringify(manifest)),
  ]
}

/**
 * Lets each lazily imported file import the app too, so that the whole app becomes one chunk. Without this, each set of
 * files that share a module has a chunk. The app has been evaluated before and does not run again.
 */
function shareShell({ onResolve, onLoad }) {
  const lazyFiles = new Set()
  onResolve({ filter: /^\..*\.tsx?$/ }, ({ kind, path, resolveDir }) => {
    if (kind === 'dynamic-import') lazyFiles.add(join(resolveDir, path))
    return undefined
  })
  onLoad({ filter: /\/src\/web\/.*\.tsx?$/ }, ({ path }) => {
    if (!lazyFiles.has(path)) return undefined
    const contents = `${fs.readFileSync(path, 'utf8')}\nimport ${JSON.stringify(join(HERE, 'app.tsx'))}\n`
    return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
  })
}

/** Removes the code for other than straight lines and linear scales, a tenth of uPlot, by its 11 references. */
function removePlotPaths({ onLoad }) {
  onLoad({ filter: /\/uPlot\.esm\.js$/ }, ({ path }) => {
    let count = 0
    const contents = fs.readFileSync(path, 'utf8').replace(OTHER_LINES_AND_SCALES, () => {
      count += 1
      return ''
    })
    if (count !== 11) throw new Error(`${path} has ${count} references to unused code instead of 11`)
    return { contents }
  })
}

/** Removes the styles of legend and title, which the chart lacks. */
function removePlotLegend({ onLoad }) {
  onLoad({ filter: /\/uPlot\.min\.css$/ }, ({ path }) => {
    const whole = fs.readFileSync(path, 'utf8')
    const contents = whole.replace(/\.u-(?:legend|inline|title|series)[^{}]*\{[^{}]*\}/g, '')
    if (contents.length > whole.length - 600) throw new Error(`${path} lacks the styles of the legend`)
    return { contents, loader: 'css' }
  })
}

/**
 * Script of the API reference, which defines `window.Scalar`. Scalar's package for Fastify ships it built, with a tenth
 * of the dependencies of its source package.
 */
async function referenceScript() {
  const server = fastify()
  await server.register(reference, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { statusCode, rawPayload } = await server.inject('/docs/js/scalar.js')
  await server.close()
  if (statusCode !== 200)
    throw new Error(`@scalar/fastify-api-reference answers ${statusCode} for its script`)
  return rawPayload
}

function pack(path, contents) {
  const results = MEMORY_LEVELS.map((memLevel) => gzipSync(contents, { level: 9, memLevel }))
  fs.writeFileSync(
    path,
    results.reduce((least, one) => (one.length < least.length ? one : least)),
  )
}

function sourcesHash(routes) {
  const hash = createHash('sha256').update(JSON.stringify(routes))
  const sources = fs.readdirSync(HERE, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const paths = sources.map(({ parentPath, name }) => join(parentPath, name))
  for (const path of [
    ...paths.sort(),
    ...VALUES,
    ...['package.json', 'package-lock.json'].map((name) => join(ROOT, name)),
    ...Object.values(GUIDES),
  ]) {
    hash
      .update(`${path.slice(ROOT.length)}\0`)
      .update(fs.readFileSync(path))
      .update('\0')
  }
  return hash.digest('hex').slice(0, 16)
}
