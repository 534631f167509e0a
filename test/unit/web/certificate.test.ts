// The link of a certificate, and its QR code. The code is read by the decoder of another author.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import decodeQr from 'qr/decode.js'
import { parseStatementLink } from '../../../src/domain/rates/statement/statement-link.ts'
import {
  type CertificateLink,
  certificateCode,
  changeLogLimits,
  digestGroups,
  encodeCertificateLink,
  isWeekend,
  parseCertificateLink,
  statementPath,
} from '../../../src/web/model/certificate-link.ts'
import { encodeFragment, FIRST_VIEW, parseFragment } from '../../../src/web/model/fragment.ts'
import { qrCode, qrPath } from '../../../src/web/model/qr-code.ts'
import { fc } from '../../support/fast-check.ts'

const SHA256 = '9df22788dc422553bbc7bf146c59a07579eb5ee7e37254aa428c1a687de30ec4'
const ISSUE = { asOf: '2026-11-23T05:52:10.000Z', sha256: SHA256 }
const LINK: CertificateLink = {
  ...{ amount: '1500', source: 'EUR', target: 'CRC', side: 'venta', on: '2026-11-22' },
  issue: ISSUE,
}
const QUERY =
  'amount=1500&source=EUR&target=CRC&side=venta&on=2026-11-22&as_of=2026-11-23T05:52:10.000Z' +
  `&sha256=${SHA256}`

test('the link of a certificate has its parameters, the instant and the digest', () => {
  assert.equal(encodeCertificateLink(LINK), QUERY)
  assert.deepEqual(parseCertificateLink(QUERY), LINK)
  assert.equal(
    statementPath({ ...LINK, amount: '-1500' }),
    `/api/v1/convert/statement?amount=1500&from=EUR&to=CRC&type=venta&on=2026-11-22&as_of=2026-11-23T05%3A52%3A10.000Z&sha256=${SHA256}`,
  )
  const { issue: _, ...draft } = LINK
  assert.deepEqual(parseCertificateLink(QUERY.slice(0, QUERY.indexOf('&as_of'))), draft)
  assert.equal(
    statementPath(draft),
    '/api/v1/convert/statement?amount=1500&from=EUR&to=CRC&type=venta&on=2026-11-22',
  )
})

test('page and command read the same links', () => {
  const links = fc.record({
    amount: fc.constantFrom('1500', '-150', '0.125', '100.50', '1234567890123456789.012345'),
    source: fc.constantFrom('EUR', 'USD'),
    target: fc.constantFrom('CRC', 'JPY'),
    side: fc.constantFrom('compra', 'venta', 'both') as fc.Arbitrary<CertificateLink['side']>,
    on: fc.constantFrom('2026-11-22', '1983-01-01'),
  })
  fc.assert(
    fc.property(links, (params) => {
      const link = { ...params, issue: ISSUE }
      const query = encodeCertificateLink(link)
      assert.deepEqual(parseCertificateLink(query), link)
      const view = { ...FIRST_VIEW, ratesView: 'certificate' as const, certificate: query }
      const { screen, ratesView, certificate } = parseFragment(encodeFragment(view))
      assert.deepEqual([screen, ratesView, certificate], ['rates', 'certificate', query])
      const {
        query: statement,
        sign,
        ...issue
      } = parseStatementLink(`https://x/${encodeFragment(view)}`) ?? {}
      assert.deepEqual(issue, ISSUE)
      const { source, target, side, on } = link
      assert.deepEqual(
        { ...statement, amount: '' },
        { amount: '', from: source, to: target, type: side, day: on },
      )
      assert.ok(link.amount.startsWith(`${sign}${statement?.amount}`))
    }),
  )
})

test('a damaged link is no link of a certificate, for page and command', () => {
  for (const damaged of [
    '',
    QUERY.slice(0, -1),
    QUERY.replace('sha256', 'sha'),
    QUERY.replace('as_of', 'asof'),
    QUERY.replace('05:52', '0552'),
    QUERY.replace('1500', '0'),
    QUERY.replace('1500', '1,5'),
    QUERY.replace('1500', '1e3 '),
    QUERY.replace('EUR', 'euro'),
    QUERY.replace('11-22', '02-31'),
    QUERY.replace('venta', 'sell'),
  ]) {
    assert.equal(parseCertificateLink(damaged), undefined, damaged)
    if (!damaged.includes('1e3')) {
      assert.equal(parseStatementLink(`https://x/#rates/certificate?${damaged}`), undefined, damaged)
    }
  }
})

test('the code of a certificate is the first 12 digits of its digest', () => {
  assert.equal(certificateCode(SHA256), '9DF2-2788-DC42')
  assert.equal(digestGroups(SHA256).join(''), SHA256)
})

test('the QR code of a link is read as the link, from the path that the page draws', () => {
  for (const host of [
    'http://127.0.0.1:8080/',
    'https://tipo-cambio.una-empresa-con-nombre-largo.example.cr/',
  ]) {
    const text = `${host}#rates/certificate?${QUERY}`
    const { path, size } = qrCode(text)
    assert.equal(decodeQr(paint(path, size)), text)
  }
})

test('the path of a QR code has a rectangle for each run of dark modules', () => {
  assert.equal(
    qrPath([
      [false, true, true],
      [true, false, true],
    ]),
    'M1 0h2v1H1zM0 1h1v1H0zM2 1h1v1H2z',
  )
})

test('a weekend is the reason for an older value only if no working day lacks one', () => {
  for (const [published, on, isReason] of [
    ['2026-11-20', '2026-11-22', true], // Friday, Sunday
    ['2026-11-20', '2026-11-21', true],
    ['2026-11-20', '2026-11-20', false],
    ['2026-11-20', '2026-11-23', false],
    ['2026-11-19', '2026-11-21', false],
    ['2026-11-18', '2026-11-19', false],
  ] as const) {
    assert.equal(isWeekend(published, on), isReason, `${published} ${on}`)
  }
})

test('changeLogLimits reads the limits of the change log from an error', () => {
  const gap = { from: '2026-03-25T12:00:00.000Z', to: '2026-03-27T12:00:00.000Z' }
  assert.deepEqual(changeLogLimits(JSON.stringify({ detail: 'x', gap })), { gap })
  assert.deepEqual(changeLogLimits(JSON.stringify({ detail: 'x', record_from: gap.from })), {
    from: gap.from,
  })
  for (const other of [undefined, '', '<html>', '{"detail":"x"}'])
    assert.equal(changeLogLimits(other), undefined)
})

/** Draws a path of rectangles as an image with 4 pixels a module. */
function paint(path: string, size: number) {
  const scale = 4
  const width = size * scale
  const data = new Uint8Array(width * width * 4).fill(255)
  for (const [, x, y, run] of path.matchAll(/M(\d+) (\d+)h(\d+)/g)) {
    for (let row = 0; row < scale; row += 1) {
      const start = ((Number(y) * scale + row) * width + Number(x) * scale) * 4
      data.fill(0, start, start + Number(run) * scale * 4)
      for (let at = start + 3; at < start + Number(run) * scale * 4; at += 4) data[at] = 255
    }
  }
  return { width, height: width, data }
}
