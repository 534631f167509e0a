import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainText } from '../../../../src/http/documents/plain-text.ts'
import { fc } from '../../../support/fast-check.ts'

const cases: [string, string][] = [
  ['', ''],
  ['plain', 'plain'],
  ['<p>Hello <b>world</b></p>', 'Hello world'],
  // inline elements are no white space, blocks and <br> are
  ['<b>a</b>b', 'ab'],
  ['a<i>b</i><span>c</span><a href="x">d</a>', 'abcd'],
  ['a<br>b<br/>c<BR />d</br>e', 'a b c d e'],
  ['<p>a</p><p>b</p>c<div>d</div>e', 'a b c d e'],
  ['<ul><li>a<li>b</ul>c', 'a b c'],
  ['<table><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></table>', 'a b c'],
  ['<h1>a</h1>b<hr>c', 'a b c'],
  ['a<unknown-element>b</unknown-element>c', 'abc'],
  // script, style and other invisible elements are removed with their content
  ['a<script>if (1 < 2) alert("</b>")</script>b', 'ab'],
  ['a<SCRIPT type="x">x</SCRIPT >b', 'ab'],
  ['a<script/>x</script>b', 'ab'],
  ['a<style>p > b { color: red }</style>b', 'ab'],
  ['a<script><script>x</script>b</script>c', 'abc'],
  ['a<script><!-- </script>b', 'ab'],
  ['a<template>x<b>y</b><template>z</template>w</template>b', 'ab'],
  ['a<template></script>x</template>b', 'ab'],
  ['a<template><script></template></script>x</template>b', 'ab'],
  ['a</script>b</template>c</style>d', 'abcd'],
  ['a<iframe><b>x</b></iframe>b', 'ab'],
  ['<svg><style>x</style><text>y</text></svg>z', 'yz'],
  // comments and what browsers parse as comments
  ['a<!-- <b>x</b> -->b', 'ab'],
  ['a<!-- x -- y -->b', 'ab'],
  ['a<!-->b<!--->c', 'abc'],
  ['a<!-- x --!>b', 'ab'],
  ['<!doctype html>a<?php echo ?>b<![CDATA[x]]>c', 'abc'],
  // unclosed
  ['a<b>b', 'ab'],
  ['a<!-- b', 'a'],
  ['a<script>b', 'a'],
  ['a<template>b', 'a'],
  ['a<b', 'a'],
  ['a<b title="x', 'a'],
  ['a</b', 'a'],
  ['a</', 'a</'],
  ['a<', 'a<'],
  ['</b>a</p>b', 'a b'],
  ['<b><i>a</b></i>b', 'ab'],
  // no tags
  ['1 < 2 > 0', '1 < 2 > 0'],
  ['a <3 b', 'a <3 b'],
  ['a & b', 'a & b'],
  // tags with odd attributes
  ['<a title="1 > 0">b</a>', 'b'],
  ["<a title='</a>'>b</a>", 'b'],
  ['<a title=>b</a>', 'b'],
  ['<img src=x onerror="alert(1)">a', 'a'],
  ['<<b>a</b>', '<a'],
  ['<scr<script>x</script>ipt>y', 'xipt>y'],
  // entities, decoded once
  ['&lt;b&gt;a&lt;/b&gt;', '<b>a</b>'],
  ['&amp;lt;', '&lt;'],
  ['&amp;amp;', '&amp;'],
  ['&ntilde;&#241;&#xF1;&Aacute;', 'ñññÁ'],
  ['&copy 2026 &bogus; &notit;', '© 2026 &bogus; ¬it;'],
  ['&#128512;&#x1F600;', '😀😀'],
  ['&#0;&#xd800;&#x110000;', '\ufffd\ufffd\ufffd'],
  ['<textarea>&lt;b&gt;</textarea>', '<b>'],
  // white space
  [' \t a\r\n\n b  ', 'a b'],
  ['&nbsp;a&nbsp;&nbsp;b\u00a0', 'a b'],
  ['a&#8195;b&#x3000;c&#10;d', 'a b c d'],
  ['<p> </p>', ''],
  ['<b> a </b> b', 'a b'],
]

test('plain text is that of the HTML, with its white space folded', () => {
  for (const [html, text] of cases) assert.equal(plainText(html), text, html)
})

test('plain text never fails, is never longer, and has plain words unchanged', () => {
  const markup = fc.constantFrom(
    '<b>',
    '</b>',
    '<p',
    '>',
    '<!--',
    '-->',
    '&amp;',
    '&lt',
    '<script>',
    '</script>',
    '"',
  )
  const html = fc.array(fc.oneof(markup, fc.string({ unit: 'binary' })), { maxLength: 20 })
  fc.assert(
    fc.property(html, (pieces) => {
      const text = plainText(pieces.join(''))
      assert.ok(text.length <= pieces.join('').length)
      assert.equal(text, text.replaceAll(/\s+/g, ' ').trim())
    }),
  )
  const words = fc.array(fc.stringMatching(/^[a-zñ0-9.,;!?]+$/), { maxLength: 10 })
  fc.assert(fc.property(words, (list) => assert.equal(plainText(list.join(' ')), list.join(' '))))
})
