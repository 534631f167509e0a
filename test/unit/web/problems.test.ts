// Reasons and failures of the server in words.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STATUS } from '../../../src/web/i18n/status.ts'
import { inLanguage } from '../../../src/web/i18n/table-texts.ts'
import { numericDay } from '../../../src/web/model/date-text.ts'
import { failureProblems, reasonProblems } from '../../../src/web/status/problems.ts'

const [words, english] = [inLanguage(STATUS, 'es'), inLanguage(STATUS, 'en')]
const list = (items: readonly string[]) => items.join(' y ')
const formatCount = (count: number) => `${count}`.replace(/(?=...$)/, ' ')
const host = 'gee.bccr.fi.cr'
const SIDES = { compra: 'Compra', venta: 'Venta' }

for (const [failure, spanish, translation] of [
  [
    { code: 'unreachable', of: '318', host },
    'No se pudo conectar con el BCCR (gee.bccr.fi.cr): indicador 318.',
    'The BCCR could not be reached (gee.bccr.fi.cr): indicator 318.',
  ],
  [
    { code: 'timeout', of: '520', host },
    'El BCCR tardó demasiado (gee.bccr.fi.cr): tabla de paridades (520).',
    'The BCCR took too long (gee.bccr.fi.cr): table of parities (520).',
  ],
  [
    { code: 'tls', of: '318', host },
    'No se pudo comprobar el certificado de gee.bccr.fi.cr: indicador 318.',
    'The certificate of gee.bccr.fi.cr could not be verified: indicator 318.',
  ],
  [
    { code: 'http_status', of: '318', status: 503 },
    'El BCCR respondió 503: indicador 318.',
    'The BCCR answered 503: indicator 318.',
  ],
  [
    { code: 'not_understood', of: '317' },
    'La respuesta del BCCR no se entendió: indicador 317.',
    'The answer of the BCCR was not understood: indicator 317.',
  ],
  [{ code: 'token_refused', of: 'bccr' }, 'El BCCR rechazó el token.', 'The BCCR refused the token.'],
  [
    { code: 'row_rejected', of: '520', count: 1204 },
    'Se rechazaron 1 204 valores: tabla de paridades (520).',
    '1 204 values were rejected: table of parities (520).',
  ],
  [
    { code: 'row_rejected', of: '318', count: 1 },
    'Se rechazó un valor: indicador 318.',
    'One value was rejected: indicator 318.',
  ],
  [{ code: 'interrupted', of: 'bccr' }, 'Se interrumpió.', 'It was interrupted.'],
  [{ code: 'disk_full', of: 'bccr' }, 'No hay espacio en el disco.', 'The disk is full.'],
] as const) {
  test(`failureProblems words ${failure.code} of ${failure.of} in both languages`, () => {
    const wording = { list, formatCount }
    assert.deepEqual(failureProblems([failure], { words, ...wording }), {
      sentences: [spanish],
      isIncomplete: false,
    })
    assert.deepEqual(failureProblems([failure], { words: english, ...wording }).sentences, [translation])
  })
}

test('failureProblems joins the indicators of one cause, and the counts', () => {
  const failures = [
    { code: 'unreachable', of: '317', host },
    { code: 'http_status', of: '317', status: 500 },
    { code: 'unreachable', of: '318', host },
    { code: 'http_status', of: '520', status: 503 },
    { code: 'row_rejected', of: '317', count: 2 },
    { code: 'row_rejected', of: '520', count: 3 },
  ]
  assert.deepEqual(failureProblems(failures, { words, list, formatCount }).sentences, [
    'No se pudo conectar con el BCCR (gee.bccr.fi.cr): indicadores 317 y 318.',
    'El BCCR respondió 500: indicador 317.',
    'El BCCR respondió 503: tabla de paridades (520).',
    'Se rechazaron 5 valores: indicador 317 y tabla de paridades (520).',
  ])
})

test('failureProblems words an unknown code as another cause, which needs the text of the server', () => {
  for (const code of ['other', 'another_planet', 'toString']) {
    assert.deepEqual(failureProblems([{ code, of: 'bccr' }], { words, list, formatCount }), {
      sentences: ['Otra causa.'],
      isIncomplete: true,
    })
  }
})

test('reasonProblems words each reason', () => {
  const reasons = [
    { code: 'stale_side', provider: 'bccr', rate_type: 'venta', since: '2026-11-17' },
    { code: 'no_value', provider: 'bccr', rate_type: 'compra' },
    { code: 'history_loading', provider: 'bccr', percent: 48 },
    { code: 'last_run_failed', provider: 'bccr' },
  ] as const
  assert.deepEqual(reasonProblems(reasons, words, numericDay, SIDES), {
    sentences: [
      'Falta la venta desde el 17/11/2026.',
      'Nunca ha llegado la compra.',
      'Se está recibiendo la historia: 48 %.',
      'La última sincronización falló.',
    ],
    isIncomplete: false,
  })
  assert.deepEqual(reasonProblems([{ code: 'new', provider: 'bccr' }], words, numericDay, SIDES), {
    sentences: ['Otra causa.'],
    isIncomplete: true,
  })
})
