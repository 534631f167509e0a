// The launcher of the executable. Its assets contain the program in chunks that src/bundle.mjs makes. Each start reads the
// first chunk; the others are read on first use.

const { isBuiltin } = require('node:module')
const { getAsset } = require('node:sea')
const { compileFunction } = require('node:vm')

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
    const parameters = ['exports', 'require', 'module']
    const run = compileFunction(getAsset(asset, 'utf8'), parameters, { filename: asset })
    run(module.exports, requireChunk, module)
  } catch (error) {
    loaded.delete(name) // a later call may retry
    throw error
  }
  return module
}

const { exports: shared } = loadChunk('./cambista.js')
for (const name of Object.keys(shared)) loaded.set(name, { exports: shared[name] })
