// Bundles the code of the executable: a first chunk for each start, with `serve`, and a chunk for each later `import()`.
// The thread that reads mails has a program of its own.
// V8 parses a megabyte of source in 20 ms, whether the code runs or not. bin/packed.cjs loads the chunks.
//
// esbuild splits further: modules of a start that later chunks need too are chunks of their own. This file joins them
// again in one scope and exports them to the later chunks. So each module exists once, with its state and its classes.

import { isBuiltin } from 'node:module'
import { basename, join } from 'node:path'
import * as esbuild from 'esbuild'

const ROOT = join(import.meta.dirname, '..')
const FIRST = 'cambista.js'
const MAIL_READER = 'mail-reader.js' // domain/mail/reader.ts has its name
const SERVE = 'src/cli/commands/server/serve.ts' // with the first chunk, since a server is the usual start
// Packages of imapflow for a log of its own, for proxies of SOCKS, and for Japanese texts of parts. None of that is used.
const UNUSED = new Set(['pino', 'socks', 'encoding-japanese'])
const NODE = { platform: 'node', target: 'node26', legalComments: 'none' } // licences: THIRD-PARTY-LICENSES
const CHUNK = {
  ...NODE,
  format: 'cjs',
  supported: { 'dynamic-import': false }, // but `require`, which bin/packed.cjs hands to each chunk
  // Fewer bytes for V8 to parse. Names stay, for a stack in a log.
  minifyWhitespace: true,
  minifySyntax: true,
  logOverride: { 'empty-import-meta': 'silent' }, // read only where the program is not packed
}

/**
 * The chunks by name, and the paths of what each is made of. The first is the one that each start reads. The same
 * sources always make the same bytes.
 */
export async function bundleProgram() {
  const { metafile, outputFiles } = await esbuild.build({
    ...NODE,
    absWorkingDir: ROOT,
    entryPoints: ['bin/cambista.ts'],
    outdir: '.',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    alias: { ofetch: './node_modules/ofetch/dist/index.mjs' }, // its other half makes a fetch for a Node without one
    external: ['pg-native'], // pg would load it for its native client
    plugins: [{ name: 'lean', setup: dropUnused }],
    metafile: true,
    logLevel: 'warning',
  })
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]))
  const { outputs } = metafile
  const serve = Object.keys(outputs).find((name) => outputs[name].entryPoint === SERVE)
  const atStart = new Set([FIRST, serve])
  for (const name of atStart) for (const one of listImports(outputs[name])) atStart.add(one)
  const later = [...texts.keys()].filter((name) => !atStart.has(name)).sort()
  const shared = new Set(
    later.flatMap((name) => listImports(outputs[name])).filter((name) => atStart.has(name)),
  )
  const listInputs = (names) =>
    [...new Set(names.flatMap((name) => Object.keys(outputs[name].inputs)))].sort()

  shared.add(serve)
  const first = {
    name: FIRST,
    code: await joined(texts, [...shared].sort()),
    inputs: listInputs([...atStart]),
  }
  const others = later.map(async (name) => {
    const { code } = await esbuild.transform(texts.get(name), CHUNK)
    return { name, code: inAscii(code), inputs: listInputs([name]) }
  })
  return [first, ...(await Promise.all(others))]
}

/**
 * The program of the thread that reads mails, in the form of a chunk. A thread has modules of its own, so the program
 * shares none with the chunks.
 */
export async function bundleMailReader() {
  const { metafile, outputFiles } = await esbuild.build({
    ...CHUNK,
    absWorkingDir: ROOT,
    entryPoints: ['src/formats/mail/worker.ts'],
    outfile: MAIL_READER,
    write: false,
    bundle: true,
    plugins: [{ name: 'lean', setup: dropUnused }],
    metafile: true,
    logLevel: 'warning',
  })
  const [{ inputs }] = Object.values(metafile.outputs)
  return { name: MAIL_READER, code: inAscii(outputFiles[0].text), inputs: Object.keys(inputs).sort() }
}

/** Lists the chunks that a chunk imports while it loads. */
function listImports({ imports }) {
  return imports
    .filter(({ kind, external }) => kind === 'import-statement' && !external)
    .map(({ path }) => path)
}

/** Joins the first chunk and its imports. The result exports, by name, the chunks that later ones need. */
async function joined(texts, shared) {
  const exported = shared.map((name) => `export * as "./${name}" from "./${name}"`)
  const { outputFiles } = await esbuild.build({
    ...CHUNK,
    stdin: { contents: [`import "./${FIRST}"`, ...exported].join('\n') },
    write: false,
    bundle: true,
    plugins: [{ name: 'joined', setup: readTexts }],
  })
  return inAscii(outputFiles[0].text)

  function readTexts({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, kind }) => {
      if (isBuiltin(path)) return { path, external: true, sideEffects: false }
      return kind === 'dynamic-import' ? { path, external: true } : { path, namespace: 'text' }
    })
    onLoad({ filter: /./, namespace: 'text' }, ({ path }) => ({ contents: texts.get(basename(path)) }))
  }
}

/** Escapes other than ASCII characters, which V8 stores in two bytes each. esbuild leaves them in regular expressions. */
function inAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Drops unused packages, and imports of Node's modules for unused parts of a library, so that no start loads them. */
function dropUnused({ onResolve, onLoad }) {
  onResolve({ filter: /./ }, ({ path }) => {
    if (isBuiltin(path)) return { path, external: true, sideEffects: false }
    return UNUSED.has(path) ? { path, namespace: 'unused' } : undefined
  })
  onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'module.exports = {}' }))
}
