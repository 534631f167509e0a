// The sheets of a workbook (.xlsx, ECMA-376): values as they are stored, formulas as what they came to. Hidden sheets are
// left out.

import { posix } from 'node:path'
import { addDays } from '../dates.ts'
import { AppError } from '../errors.ts'
import { type Archive, openArchive } from './archive.ts'
import type { NumberFormat, Sheet } from './cells.ts'
import { numberFormatOf } from './number-format.ts'
import { readSheet } from './sheet.ts'
import { readXml } from './xml.ts'

const [DAY_0, DAY_0_OF_1904] = [addDays('1900-01-01', -2), '1904-01-01'] // 1900 is a leap year there

/** @throws AppError `failed` for what is no workbook */
export async function readWorkbook(bytes: Buffer): Promise<Sheet[]> {
  const archive = await openArchive(bytes)
  const main = [...(await relations(archive, '')).values()].find(({ type }) =>
    type.endsWith('/officeDocument'),
  )
  const xml = main && (await archive.read(main.target))
  if (main === undefined || xml === undefined) throw new AppError('failed', 'the file is no workbook')
  const parts = await relations(archive, main.target)
  const partOf = (kind: string) => [...parts.values()].find(({ type }) => type.endsWith(`/${kind}`))?.target
  const formats = readFormats(await textOf(archive, partOf('styles')))
  const texts = readTexts(await textOf(archive, partOf('sharedStrings')))
  const { sheets, isOf1904 } = readIndex(xml)
  const found: Sheet[] = []
  for (const { name, id } of sheets) {
    const part = parts.get(id)
    if (!part?.type.endsWith('/worksheet')) continue // a chart, say
    const sheetXml = await archive.read(part.target)
    if (sheetXml === undefined) throw new AppError('failed', `the sheet ${JSON.stringify(name)} is missing`)
    const day0 = isOf1904 ? DAY_0_OF_1904 : DAY_0
    found.push(readSheet(sheetXml, { name, texts, formats, day0 }))
  }
  return found
}

type Relation = { type: string; target: string }

/** What a part leads to, by id; the part without a name is the archive. */
async function relations(archive: Archive, part: string): Promise<Map<string, Relation>> {
  const slash = part.lastIndexOf('/') + 1
  const folder = part.slice(0, slash)
  const found = new Map<string, Relation>()
  const xml = await archive.read(`${folder}_rels/${part.slice(slash)}.rels`)
  readXml(xml ?? '', {
    open(name, { Id: id = '', Type: type = '', Target: target = '' }) {
      if (name !== 'Relationship') return
      found.set(id, { type, target: posix.resolve('/', folder, target).slice(1) })
    },
  })
  return found
}

async function textOf(archive: Archive, part: string | undefined): Promise<string> {
  return (part && (await archive.read(part))) || ''
}

function readIndex(xml: string): { sheets: { name: string; id: string }[]; isOf1904: boolean } {
  const sheets: { name: string; id: string }[] = []
  let isOf1904 = false
  readXml(xml, {
    open(name, attributes) {
      if (name === 'workbookPr') isOf1904 = /^(1|true)$/.test(attributes.date1904 ?? '')
      if (name !== 'sheet' || (attributes.state ?? 'visible') !== 'visible') return
      const [, id = ''] = Object.entries(attributes).find(([key]) => /:id$/.test(key)) ?? []
      sheets.push({ name: attributes.name ?? '', id })
    },
  })
  return { sheets, isOf1904 }
}

/** The formats of cells, in the order in which cells name them. */
function readFormats(xml: string): NumberFormat[] {
  const codes = new Map<number, string>()
  const ids: number[] = []
  let isOfCells = false
  readXml(xml, {
    open(name, { numFmtId = '0', formatCode = '' }) {
      if (name === 'numFmt') codes.set(Number(numFmtId), formatCode)
      else if (name === 'cellXfs') isOfCells = true
      else if (name === 'xf' && isOfCells) ids.push(Number(numFmtId))
    },
    close(name) {
      if (name === 'cellXfs') isOfCells = false
    },
  })
  return ids.map((id) => numberFormatOf(id, codes))
}

/** The texts that cells share. */
function readTexts(xml: string): string[] {
  const texts: string[] = []
  let [isText, isPhonetic] = [false, false]
  readXml(xml, {
    open(name) {
      if (name === 'si') texts.push('')
      else if (name === 'rPh') isPhonetic = true
      else if (name === 't') isText = !isPhonetic
    },
    text(more) {
      if (isText) texts.push((texts.pop() ?? '') + more)
    },
    close(name) {
      if (name === 't') isText = false
      else if (name === 'rPh') isPhonetic = false
    },
  })
  return texts
}
