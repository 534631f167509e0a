// Makes the files of the page from these sources: scripts and styles with their hash in the name, and the HTML that
// names them, each packed with gzip as it is sent. The same sources always make the same bytes.

import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as esbuild from 'esbuild'
import { referenceScript } from './reference.mjs'

const HERE = import.meta.dirname
const ROOT = join(HERE, '../..')
// More memory makes longer blocks, which are smaller for some files and larger for others, by up to one in a hundred.
const MEMORY_LEVELS = [6, 7, 8, 9]
const OTHER_LINES_AND_SCALES =
  /^\t\(paths\.(?:stepped|bars|spline) *= \w+\);\n|sc\.distr (?:== [34]|>= 3)(?: && sc\.log == \d+)? \? \w+(?:[XY]|Splits|Filt) : /gm
const CACHE = join(ROOT, 'node_modules/.cache/cambista')

/** The folder with the page of these very sources, made if it is not there yet. */
export async function bundledPage() {
  const folder = join(CACHE, `page-${hashOfSources()}`)
  if (fs.existsSync(folder)) return folder
  fs.mkdirSync(CACHE, { recursive: true })
  const made = fs.mkdtempSync(join(CACHE, 'making-page-'))
  await bundlePage(made)
  try {
    fs.renameSync(made, folder)
  } catch (error) {
    fs.rmSync(made, { recursive: true })
    if (!fs.existsSync(folder)) throw error // else another process was faster
  }
  return folder
}

/** Writes the page into a folder, and answers with the paths of all that went into it. */
export async function bundlePage(folder) {
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
      { name: 'lean-chart', setup: leaveOutPaths },
      { name: 'no-legend', setup: leaveOutLegend },
    ],
  }
  const app = await esbuild.build({
    ...options,
    entryPoints: { app: 'src/web/app.tsx', style: 'src/web/style.css' },
    format: 'esm',
    splitting: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
  })
  const boot = await esbuild.build({
    ...options,
    entryPoints: { boot: 'src/web/boot.ts', docs: 'src/web/docs.ts' },
    format: 'iife',
  })
  const files = [...app.outputFiles, ...boot.outputFiles]
  const names = files.map(({ path }) => path.slice(folder.length + 1))
  for (const [index, { contents }] of files.entries()) pack(join(folder, names[index]), contents)
  const reference = await referenceScript()
  names.push(`reference-${createHash('sha256').update(reference).digest('hex').slice(0, 8)}.js`)
  pack(join(folder, names.at(-1)), reference)
  for (const html of ['page.html', 'docs.html']) {
    const text = fs.readFileSync(join(HERE, html), 'utf8').replace(/\{(\w+)\.(\w+)\}/g, (_, name, ending) => {
      const found = names.find((one) => one.startsWith(`${name}-`) && one.endsWith(`.${ending}`))
      if (!found) throw new Error(`${html} names ${name}.${ending}, which is not made`)
      return found
    })
    pack(join(folder, html), text)
  }
  return [...Object.keys(app.metafile.inputs), ...Object.keys(boot.metafile.inputs)]
}

/**
 * The chart draws straight lines alone, over linear scales. The other ways to draw a line, and the other scales, are a
 * tenth of the library, and hang on these places.
 */
function leaveOutPaths({ onLoad }) {
  onLoad({ filter: /\/uPlot\.esm\.js$/ }, ({ path }) => {
    let left = 0
    const contents = fs.readFileSync(path, 'utf8').replace(OTHER_LINES_AND_SCALES, () => {
      left += 1
      return ''
    })
    if (left !== 11) throw new Error(`${path} is not as it was`)
    return { contents }
  })
}

/** The chart has neither a legend nor a title. */
function leaveOutLegend({ onLoad }) {
  onLoad({ filter: /\/uPlot\.min\.css$/ }, ({ path }) => {
    const whole = fs.readFileSync(path, 'utf8')
    const contents = whole.replace(/\.u-(?:legend|inline|title|series)[^{}]*\{[^{}]*\}/g, '')
    if (contents.length > whole.length - 600) throw new Error(`${path} is not as it was`)
    return { contents, loader: 'css' }
  })
}

function pack(path, contents) {
  const tries = MEMORY_LEVELS.map((memLevel) => gzipSync(contents, { level: 9, memLevel }))
  fs.writeFileSync(
    path,
    tries.reduce((least, one) => (one.length < least.length ? one : least)),
  )
}

function hashOfSources() {
  const hash = createHash('sha256')
  const sources = fs.readdirSync(HERE, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const paths = sources.map(({ parentPath, name }) => join(parentPath, name))
  for (const path of [...paths.sort(), join(ROOT, 'package-lock.json')]) {
    hash
      .update(`${path.slice(ROOT.length)}\0`)
      .update(fs.readFileSync(path))
      .update('\0')
  }
  return hash.digest('hex').slice(0, 16)
}
