// The launcher of the executable. Its assets contain the program in chunks that src/bundle.mjs makes, each as a function.
// Each start reads the first chunk, with its code cache; the others are read on first use.

const { isBuiltin } = require('node:module')
const { getAsset, getRawAsset } = require('node:sea')
const { Script } = require('node:vm')

const FIRST = './cambista.js'

const loaded = new Map()

/** Returns the exports of a chunk or of a module of Node. */
function requireChunk(name) {
  if (isBuiltin(name)) return require(name)
  return (loaded.get(name) ?? loadChunk(name)).exports
}

function loadChunk(name) {
  const module = { exports: {} }
  loaded.set(name, module) // before it runs: two chunks may need each other
  try {
    const asset = name.replace('./', 'code/')
    const cachedData = name === FIRST ? Buffer.from(getRawAsset('code-cache')) : undefined
    const script = new Script(getAsset(asset, 'utf8'), { filename: asset, cachedData })
    if (cachedData) globalThis[Symbol.for('cambista.isCodeCached')] = !script.cachedDataRejected
    script.runInThisContext()(module.exports, requireChunk, module)
  } catch (error) {
    loaded.delete(name) // a later call may retry
    throw error
  }
  return module
}

const { exports: shared } = loadChunk(FIRST)
for (const name of Object.keys(shared)) loaded.set(name, { exports: shared[name] })
