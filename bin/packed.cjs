// The launcher of the executable. The program lies among its assets in chunks that src/bundle.mjs makes: one that each
// start reads, and others that are read when they are first asked for.

const { isBuiltin } = require('node:module')
const { getAsset } = require('node:sea')
const { compileFunction } = require('node:vm')

const loaded = new Map()

/** What a chunk exports, or a module of Node. */
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
    loaded.delete(name) // it may be asked for again
    throw error
  }
  return module
}

const { exports: shared } = loadChunk('./cambista.js')
for (const name of Object.keys(shared)) loaded.set(name, { exports: shared[name] })
