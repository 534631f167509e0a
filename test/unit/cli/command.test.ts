import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { command } from '../../../src/cli/command.ts'
import { parseWords } from '../../../src/cli/parse/args.ts'
import type { ALLOWED } from '../../../src/domain/access/secrets.ts'
import { startProgram } from '../../support/program.ts'
import { TEST_PROVIDERS } from '../../support/providers.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const ENTRY = join(import.meta.dirname, '../../support/cambista.ts')

test('`command` types the option values by the options that the command declares', async () => {
  let values: [number, number | undefined, string, boolean, (typeof ALLOWED)[number][]] = [
    0,
    0,
    '',
    false,
    [],
  ]
  const tryCommand = command({
    name: 'try',
    positionals: [],
    options: ['port', 'company', 'name', 'json', 'allow'],
    required: ['name'],
    changesData: false,
    async run({ options, withDatabase }) {
      values = [options.port, options.company, options.name, options.json, options.allow]
      // @ts-expect-error: `host` is not declared
      assert.equal(options.host, undefined)
      // @ts-expect-error: the command declares no data directory
      assert.throws(() => withDatabase({ mustExist: true }, async () => 0))
      return 0
    },
  })
  const { options } = parseWords(['--name', 'A', '--allow', 'documents:GET'], tryCommand.options, {})
  const terminal = {
    env: {},
    providers: TEST_PROVIDERS,
    out() {},
    err() {},
    interactive: false,
    stop: new AbortController().signal,
  }
  const settings = { file: '', values: {}, hidden: false }
  await tryCommand.run({
    options,
    flags: [],
    positionals: [],
    terminal,
    settings,
    storage: undefined,
    withDatabase: undefined,
  })
  assert.deepEqual(values, [8080, undefined, 'A', false, ['documents:GET']])
})

test('a command whose result cannot be written to stdout fails, unless its reader ended', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'data')
  const create = ['key', 'create', 'erp', '--data-dir', dataDir]
  const cases: [words: string[], shell: string, code: number, err: RegExp][] = [
    [create, '"$0" "$@" > /dev/full', 1, /^cambista: cannot write to stdout: ENOSPC: [^\n]*\n$/m],
    [['manual', 'api'], '"$0" "$@" > /dev/full', 1, /^cambista: cannot write to stdout: ENOSPC: [^\n]*\n$/],
    [
      ['manual', 'api'],
      `ulimit -f 8; "$0" "$@" > ${dataDir}.txt`,
      1,
      /^cambista: cannot write to stdout: EFBIG/,
    ],
    [['manual', 'api'], '{ "$0" "$@"; echo "code $?" >&2; } | true', 0, /^code 0\n$/],
  ]
  for (const [words, shell, code, err] of cases) {
    const program = startProgram(t, words, {}, ['sh', '-c', shell, process.execPath, ENTRY])
    assert.equal(await program.waitForExit(), code, shell)
    assert.match(program.printed.err, err)
  }
})
