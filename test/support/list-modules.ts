// Loaded before the program (`node --import`): prints each module when it is loaded, a line each on stderr.

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
