// Checks the catches, whose kinds src/README.md names. A catch that drops its error throws another one, or gives its
// reason in a comment. The reason of a returned value may be in the comment of the function.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')
const CLAUSE = /^( *)\} catch(?: \((\w+)\))? \{/
const HANDLER = /\.catch\((?:\(\) =>|ignore\b)/
const COMMENT = /\/\/ \S/

/** Returns the places of a text, as numbers of lines, that drop an error without a reason. */
function findSilentCatches(text: string): number[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    const [clause, indent = '', name] = CLAUSE.exec(line) ?? []
    if (clause === undefined) {
      const isExplained = COMMENT.test(line) || /^\s*\/\/ /.test(lines[at - 1] ?? '')
      return HANDLER.test(line) && !isExplained ? [at + 1] : []
    }
    const end = lines.findIndex((other, index) => index > at && other.startsWith(`${indent}}`))
    const body = line.endsWith('{') ? lines.slice(at + 1, end).join('\n') : line.slice(clause.length)
    const head = lines.findLastIndex(
      (other, index) => index < at && /^(export )?(async )?function /.test(other),
    )
    const isContract = /\breturn\b/.test(body) && /\*\/$|^\/\//.test(lines[head - 1] ?? '')
    const usesError = name !== undefined && new RegExp(`\\b${name}\\b`).test(body)
    return usesError || isContract || /\bthrow\b/.test(body) || COMMENT.test(body) ? [] : [at + 1]
  })
}

test('a catch that drops its error gives its reason', () => {
  const places = globSync('{src,bin}/**/*.{ts,tsx}', { cwd: ROOT }).flatMap((path) =>
    findSilentCatches(readFileSync(join(ROOT, path), 'utf8')).map((line) => `${path}:${line}`),
  )
  assert.deepEqual(places, [], 'see "Catches" of src/README.md')
})

test('`findSilentCatches` finds the silent ones alone', () => {
  const silent = [
    '} catch {}',
    '} catch (error) {\n  return 1\n}',
    '} catch {\n  return\n}',
    'a.catch(() => {})',
  ]
  for (const text of silent) assert.deepEqual(findSilentCatches(`x\n${text}\n`), [2], text)
  const explained = [
    '} catch {} // closed already',
    '} catch {\n  throw new Error()\n}',
    '} catch {\n  return 1 // an old file\n}',
    '} catch (error) {\n  log(error)\n}',
    '// closed already\na.catch(() => {})',
    'a.catch(() => {}) // closed already',
    'a.catch((error) => log(error))',
    '/** Undefined: none. */\nfunction f() {\n  try {\n  } catch {\n    return undefined\n  }\n}',
  ]
  for (const text of explained) assert.deepEqual(findSilentCatches(text), [], text)
})
