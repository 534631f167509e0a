// A screen at every width from 320 to 1400 px, in two typefaces. Nothing scrolls to the side, covers something else
// or is cut. The short form has two widths: between them tables become cards.

import type { Page } from 'puppeteer-core'
import { LONG } from '../../faults/scale.ts'

const WIDTHS = LONG ? Array.from({ length: 28 }, (_, at) => 320 + 40 * at) : [720, 960]
const FACES = LONG ? ['Roboto', 'DejaVu Sans'] : ['DejaVu Sans']

/** Finds the faults of the open screen, with their widths. Afterwards viewport and typeface are as before. */
export async function findWidthFaults(page: Page): Promise<string[]> {
  const faults: string[] = []
  const before = page.viewport()
  for (const face of FACES) {
    await page.evaluate(setTypeface, face)
    for (const width of WIDTHS) {
      await page.setViewport({ width, height: 900 })
      await untilDrawn(page)
      faults.push(...(await page.evaluate(layoutFaults)).map((fault) => `${width} px, ${face}: ${fault}`))
    }
  }
  await page.evaluate(setTypeface, '')
  await page.setViewport(before)
  await untilDrawn(page)
  return faults
}

async function untilDrawn(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  )
}

/** Runs in the page: all texts have this typeface; an empty one: that of the page. */
function setTypeface(face: string): void {
  const sheet = new CSSStyleSheet()
  if (face !== '') sheet.replaceSync(`* { font-family: '${face}' !important }`)
  document.adoptedStyleSheets = [sheet]
}

/** Runs in the page: boxes that scroll to the side, cut their text, or lie over another one. */
function layoutFaults(): string[] {
  type Box = { element: Element; rect: DOMRect }
  const faults: string[] = []
  const describe = (element: Element) =>
    `${element.tagName.toLowerCase()}.${element.className} "${(element.textContent ?? '').trim().slice(0, 40)}"`
  const { scrollWidth } = document.documentElement
  if (scrollWidth > innerWidth) faults.push(`the page is ${scrollWidth} px wide`)
  const isSeen = (element: Element) => {
    const { width, height } = element.getBoundingClientRect()
    return (
      width > 2 && height > 2 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    )
  }
  const others = 'svg, canvas, pre, textarea, .uplot, .unseen, .carded thead, .calendar-button'
  const above = '.download-list, [role=dialog], .menu-inside'
  const root = document.querySelector('dialog[open]') ?? document.body
  const boxes: Box[] = []
  for (const element of root.querySelectorAll('*')) {
    if (!isSeen(element) || element.closest(others) || element.closest(above)) continue
    const style = getComputedStyle(element)
    const more = element.scrollWidth - element.clientWidth
    if (more > 1 && /auto|scroll/.test(style.overflowX))
      faults.push(`scrolls by ${more} px: ${describe(element)}`)
    if (more > 1 && /hidden|clip/.test(style.overflowX) && style.textOverflow !== 'ellipsis')
      faults.push(`cuts ${more} px: ${describe(element)}`)
    if (element.matches('input:not([type=range]):not([type=radio]):not([type=checkbox]), select'))
      boxes.push({ element, rect: element.getBoundingClientRect() })
    for (const node of element.childNodes) {
      if (node.nodeType !== Node.TEXT_NODE || !node.textContent?.trim()) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      for (const rect of range.getClientRects()) if (rect.width > 1) boxes.push({ element, rect })
    }
  }
  boxes.sort((a, b) => a.rect.top - b.rect.top)
  for (const [at, one] of boxes.entries()) {
    for (let next = at + 1; next < boxes.length; next += 1) {
      const other = boxes[next] as Box
      if (other.rect.top >= one.rect.bottom - 3) break
      if (one.element === other.element || one.element.contains(other.element)) continue
      if (other.element.contains(one.element)) continue
      const width = Math.min(one.rect.right, other.rect.right) - Math.max(one.rect.left, other.rect.left)
      const height = Math.min(one.rect.bottom, other.rect.bottom) - Math.max(one.rect.top, other.rect.top)
      if (width > 3 && height > 3)
        faults.push(`lies over: ${describe(one.element)} and ${describe(other.element)}`)
    }
  }
  return faults
}
