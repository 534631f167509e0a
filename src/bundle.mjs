// Makes the code of the executable: the chunk that each start reads, and one for each part that an `import()` loads
// later. V8 reads a megabyte of source in 20 ms, whether it is run or not. bin/packed.cjs loads them.
//
// esbuild splits into more: what a start needs lies in a chunk of its own for each set of later parts that need it too.
// These are joined again, into one scope, and the later chunks have from its exports what they share with it. So each
// module is there once, and a class is the same one for all.

import { isBuiltin } from 'node:module'
import { basename, join } from 'node:path'
import * as esbuild from 'esbuild'

const FIRST = 'cambista.js'
const NODE = { platform: 'node', target: 'node26', legalComments: 'none' } // licences: THIRD-PARTY-LICENSES
const CHUNK = {
  ...NODE,
  format: 'cjs',
  supported: { 'dynamic-import': false }, // but `require`, which bin/packed.cjs hands to each chunk
  minifyWhitespace: true, // with its blanks a start takes 2.5 ms longer. Names stay, for a stack in a log
  logOverride: { 'empty-import-meta': 'silent' }, // read only where the program is not packed
}

/**
 * The chunks by name, and the paths of what each is made of. The first is the one that each start reads. The same
 * sources always make the same bytes.
 */
export async function bundleProgram() {
  const { metafile, outputFiles } = await esbuild.build({
    ...NODE,
    absWorkingDir: join(import.meta.dirname, '..'),
    entryPoints: ['bin/cambista.ts'],
    outdir: '.',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    alias: { ofetch: './node_modules/ofetch/dist/index.mjs' }, // its other half makes a fetch for a Node without one
    external: ['pg-native'], // pg would load it for a client of another kind, which nothing here asks for
    plugins: [{ name: 'lean', setup: beLean }],
    metafile: true,
    logLevel: 'warning',
  })
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]))
  const { outputs } = metafile
  const atStart = new Set([FIRST])
  for (const name of atStart) for (const one of importsOf(outputs[name])) atStart.add(one)
  const later = [...texts.keys()].filter((name) => !atStart.has(name)).sort()
  const shared = new Set(
    later.flatMap((name) => importsOf(outputs[name])).filter((name) => atStart.has(name)),
  )
  const inputsOf = (names) => [...new Set(names.flatMap((name) => Object.keys(outputs[name].inputs)))].sort()

  const first = { name: FIRST, code: await joined(texts, [...shared].sort()), inputs: inputsOf([...atStart]) }
  const others = later.map(async (name) => {
    const { code } = await esbuild.transform(texts.get(name), CHUNK)
    return { name, code: inAscii(code), inputs: inputsOf([name]) }
  })
  return [first, ...(await Promise.all(others))]
}

/** What is imported by a chunk as it is loaded. */
function importsOf({ imports }) {
  return imports
    .filter(({ kind, external }) => kind === 'import-statement' && !external)
    .map(({ path }) => path)
}

/** The first chunk and all that it imports as one, which exports those of them that later chunks need, by name. */
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

/** V8 keeps text with one other character in two bytes a character. esbuild leaves such characters in regular expressions. */
function inAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** What never runs shall not be read: modules of Node that a library names for what we do not use of it. */
function beLean({ onResolve }) {
  onResolve({ filter: /./ }, ({ path }) =>
    isBuiltin(path) ? { path, external: true, sideEffects: false } : undefined,
  )
}
