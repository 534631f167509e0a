// Preloaded by `node --import`: prints the name of each module to stderr when it is loaded.

import { registerHooks } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

registerHooks({
  load(url, context, next) {
    const name = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : url
    process.stderr.write(`module ${name}\n`)
    return next(url, context)
  },
})
