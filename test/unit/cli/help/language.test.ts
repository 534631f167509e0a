// The language of help by locale. Help, the demo, errors of the command line and verdicts about certificates follow it;
// all other output is English.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCommands } from '../../../../src/cli/commands.ts'
import { type Language, messageLanguage } from '../../../../src/cli/help/locale.ts'
import { helpTexts } from '../../../../src/cli/help/texts.ts'
import { commandHelp, helpWidth, programHelp } from '../../../../src/cli/help.ts'
import { run } from '../../../../src/main.ts'
import { TEST_PROVIDERS } from '../../../support/providers.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { runCommand } from '../../../support/terminal.ts'

const COMMANDS = await loadCommands()

const ENGLISH = helpTexts('en')

const LOCALES: [Record<string, string>, Language][] = [
  [{}, 'en'],
  [{ LANG: '' }, 'en'],
  [{ LANG: 'C' }, 'en'],
  [{ LANG: 'C.UTF-8' }, 'en'],
  [{ LANG: 'POSIX' }, 'en'],
  [{ LANG: 'en_US.UTF-8' }, 'en'],
  [{ LANG: 'es' }, 'es'],
  [{ LANG: 'es_CR' }, 'es'],
  [{ LANG: 'es_CR.UTF-8' }, 'es'],
  [{ LANG: 'es_ES@euro' }, 'es'],
  [{ LANG: 'es.UTF-8' }, 'es'],
  [{ LANG: 'est_EE.UTF-8' }, 'en'],
  [{ LANG: 'pt_BR.UTF-8' }, 'en'],
  [{ LANG: 'nonsense es' }, 'en'],
  // LC_ALL overrides LC_MESSAGES, which overrides LANG; an empty variable counts as unset.
  [{ LC_MESSAGES: 'es_CR.UTF-8', LANG: 'en_US.UTF-8' }, 'es'],
  [{ LC_MESSAGES: 'en_US.UTF-8', LANG: 'es_CR.UTF-8' }, 'en'],
  [{ LC_MESSAGES: '', LANG: 'es_CR.UTF-8' }, 'es'],
  [{ LC_ALL: 'C', LC_MESSAGES: 'es_CR.UTF-8', LANG: 'es_CR.UTF-8' }, 'en'],
  [{ LC_ALL: 'es_CR.UTF-8', LC_MESSAGES: 'en_US.UTF-8', LANG: 'C' }, 'es'],
  [{ LC_ALL: '', LC_MESSAGES: '', LANG: 'es' }, 'es'],
  [{ LC_TIME: 'es_CR.UTF-8', LANG: 'en_US.UTF-8' }, 'en'],
  // LANGUAGE overrides them, except under the locales C and POSIX.
  [{ LANGUAGE: 'es', LANG: 'en_US.UTF-8' }, 'es'],
  [{ LANGUAGE: 'es_CR:en', LC_ALL: 'en_US.UTF-8' }, 'es'],
  [{ LANGUAGE: 'fr:es:en', LANG: 'fr_FR.UTF-8' }, 'es'],
  [{ LANGUAGE: 'en:es', LANG: 'es_CR.UTF-8' }, 'en'],
  [{ LANGUAGE: 'fr', LANG: 'es_CR.UTF-8' }, 'en'],
  [{ LANGUAGE: '', LANG: 'es_CR.UTF-8' }, 'es'],
  [{ LANGUAGE: 'es' }, 'en'],
  [{ LANGUAGE: 'es', LANG: 'C' }, 'en'],
  [{ LANGUAGE: 'es', LC_ALL: 'POSIX', LANG: 'es_CR.UTF-8' }, 'en'],
]
for (const [env, expected] of LOCALES) {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  test(`help is in ${expected} with ${variables.join(' ') || 'no locale'}`, async () => {
    assert.equal(messageLanguage(env), expected)
    const { out } = await runCommand(['--help'], env)
    assert.match(out, expected === 'es' ? /^Uso: cambista COMANDO/m : /^Usage: cambista COMMAND/m)
  })
}

test('English help is the same in each locale that is not Spanish, wrapped to 80 columns', async () => {
  for (const words of [[], ...COMMANDS.map(({ name }) => name.split(' '))]) {
    const plain = await runCommand([...words, '--help'])
    for (const LANG of ['C', 'en_US.UTF-8', 'fr_FR.UTF-8']) {
      assert.deepEqual(await runCommand([...words, '--help'], { LANG }), plain)
    }
  }
  const { out } = await runCommand(['key', 'create', '--help'])
  assert.match(
    out,
    /\nFlags \(each but those marked \* is an environment variable too: --data-dir is\nCAMBISTA_DATA_DIR\):\n/,
  )
  assert.ok(
    out.includes(`
  --side SIDE            compra or venta: the dollar's rate in formats that have
                         only one (default venta) *
`),
  )
})

test('help has the width of the terminal within 60 to 120 columns, 80 if it is unknown', () => {
  assert.deepEqual([undefined, 0, 20, 60, 100, 120, 300].map(helpWidth), [80, 80, 60, 60, 100, 120, 120])
  for (const columns of [80, 100, 120]) {
    for (const help of [
      programHelp(COMMANDS, undefined, ENGLISH, columns),
      ...COMMANDS.map((one) => commandHelp(one, ENGLISH, columns)),
    ]) {
      // Lines of commands and of files are not wrapped.
      const lines = help.split('\n').filter((line) => !/^ {2,4}\S/.test(line) || /^ {2}--/.test(line))
      const widest = Math.max(...lines.map((line) => line.length))
      assert.ok(widest <= columns, `${widest} columns: ${help.slice(0, 40)}`)
    }
  }
  const [narrow, wide] = [60, 120].map((columns) => programHelp(COMMANDS, undefined, ENGLISH, columns))
  assert.ok((narrow ?? '').split('\n').length > (wide ?? '').split('\n').length + 40)
})

test('a long example is continued after a backslash, so that it can be copied', async () => {
  const { out } = await runCommand(['cert', 'create', '--help'])
  assert.match(out, /^Example: cambista cert create .* \\\n {4}\S.*\n$/m)
})

const MISTYPED: [line: string, english: string, spanish: string][] = [
  [
    'sync --from 01/03/2026',
    '--from must be a calendar day written YYYY-MM-DD, not "01/03/2026"',
    '--from debe ser un día del calendario, escrito AAAA-MM-DD, no "01/03/2026"',
  ],
  [
    'serve --port 99999',
    '--port must be an integer from 0 to 65535, not "99999"',
    '--port debe ser un entero de 0 a 65535, no "99999"',
  ],
  [
    'export --format xml',
    '--format must be one of csv, ndjson, not "xml"',
    '--format debe ser uno de csv, ndjson, no "xml"',
  ],
  [
    'serve --data-dir postgres://ana:sesamo@h/x',
    '--data-dir must not be the address of a database, which goes with --database',
    '--data-dir no debe ser la dirección de una base de datos, que va en --database',
  ],
  ['bogus', 'there is no command "bogus"', 'no existe el comando "bogus"'],
  [
    'key maek',
    'there is no command "key maek", but there are: key create, key list, key revoke, key rotate',
    'no existe el comando "key maek"; sí existen: key create, key list, key revoke, key rotate',
  ],
  [
    'kye create',
    'there is no command "kye create": did you mean cambista key create?',
    'no existe el comando "kye create"; ¿quizás cambista key create?',
  ],
  ['--json', 'COMMAND is missing', 'falta el COMANDO'],
  [
    'serve --prot 1',
    "unknown flag '--prot': did you mean --port?",
    "opción desconocida '--prot'; ¿quizás --port?",
  ],
  [
    'demo --frobnicate',
    "unknown flag '--frobnicate': this command takes --host, --port",
    "opción desconocida '--frobnicate'; este comando acepta --host, --port",
  ],
  [
    'manual --frobnicate',
    "unknown flag '--frobnicate': this command takes none",
    "opción desconocida '--frobnicate'; este comando no acepta opciones",
  ],
  ['serve --frobnicate', "unknown flag '--frobnicate'", "opción desconocida '--frobnicate'"],
  [
    'key create',
    'NAME is missing; usage: cambista key create NAME [flags]',
    'falta NOMBRE; uso: cambista key create NOMBRE [opciones]',
  ],
  [
    'key create a b',
    'unexpected "b"; usage: cambista key create NAME [flags]',
    'sobra "b"; uso: cambista key create NOMBRE [opciones]',
  ],
  [
    'cluster import postgres://ana@db.example.com/cambista',
    'unexpected address of a database: it is the value of --to or --database',
    'sobra la dirección de una base de datos: es el valor de --to o --database',
  ],
  ['serve --port', '--port needs a value', 'falta el valor de --port'],
  [
    'serve --data-dir --port 1',
    '--data-dir needs a value; one that begins with a dash is written --data-dir=--port',
    'falta el valor de --data-dir; uno que empieza con un guion se escribe --data-dir=--port',
  ],
  ['serve --metrics=x', '--metrics takes no value', '--metrics no lleva valor'],
  [
    'serve --max-body 1x',
    '--max-body must be a number of bytes, or of KiB, MiB, GiB or TiB, such as 500MiB, not "1x"',
    '--max-body debe ser un número de bytes, o de KiB, MiB, GiB o TiB, como 500MiB, no "1x"',
  ],
  [
    'serve --open-page 10.0.0.0/8,300.1.1.1/8',
    '--open-page must be addresses or networks such as 10.0.0.0/8, or the word loopback, with commas between: "300.1.1.1/8" is none',
    '--open-page deben ser direcciones o redes como 10.0.0.0/8, o la palabra loopback, separadas por comas: "300.1.1.1/8" no lo es',
  ],
  ['document show x', 'ID must be a positive integer, not "x"', 'ID debe ser un entero positivo, no "x"'],
  ['company create --code A', '--name is missing', 'falta --name'],
  [
    'token create a',
    '--allow is missing: give one or more of documents:POST, agent:POST, documents:GET, documents:CLAIM, documents:DELETE, documents:RETRY',
    'falta --allow, con uno o más de estos valores: documents:POST, agent:POST, documents:GET, documents:CLAIM, documents:DELETE, documents:RETRY',
  ],
  [
    'manual backup',
    'there is no topic "backup": did you mean backups?',
    'no existe el tema "backup"; ¿quizás backups?',
  ],
]
for (const [line, english, spanish] of MISTYPED) {
  test(`cambista ${line}: ${spanish}`, async () => {
    const words = line.split(' ')
    const plain = await runCommand(words)
    assert.deepEqual([plain.code, plain.out, plain.err.split('\n')[0]], [2, '', `cambista: ${english}`])
    assert.match(plain.err, /\nTry cambista --help, or cambista .+ --help\.\n$/)
    const end = await runCommand(words, { LANG: 'es_CR.UTF-8' })
    assert.deepEqual([end.code, end.out, end.err.split('\n')[0]], [2, '', `cambista: ${spanish}`])
    assert.match(end.err, /\nLa ayuda está en cambista --help y en cambista .+ --help\.\n$/)
  })
}

test('results and errors beside those of the command line are English in each locale', async (t) => {
  const env = { LANG: 'es_CR.UTF-8', CAMBISTA_DATA_DIR: `${temporaryDirectory(t)}/data` }
  assert.match((await runCommand(['key', 'create', 'erp'], env)).err, /^Key 1 \(erp\), shown only now/)
  const { err } = await runCommand(['company', 'update', '9', '--quota', 'none'], env)
  assert.match(err, /^cambista: there is no company 9: see cambista company list$/m)
})

test('a missing database is an error in the language of the help', async (t) => {
  const dataDir = `${temporaryDirectory(t)}/data`
  const { code, err } = await runCommand(['key', 'list', '--data-dir', dataDir], { LANG: 'es_CR.UTF-8' })
  assert.deepEqual(
    [code, err],
    [1, `cambista: no hay una base de datos de cambista en ${dataDir}: revise --data-dir\n`],
  )
})

test('the journal is English in each locale', async () => {
  let err = ''
  const code = await run(['serve', '--prot', '1'], {
    env: { LANG: 'es_CR.UTF-8' },
    out() {},
    err: (text) => {
      err += text
    },
    providers: TEST_PROVIDERS,
    interactive: false,
    journal: true,
    stop: new AbortController().signal,
  })
  assert.equal(code, 2)
  assert.match(err, /unknown flag '--prot': did you mean --port\?\nTry cambista --help/)
})
