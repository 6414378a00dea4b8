import { expect, it } from "vitest"
import { htmlToText } from "./html-text.ts"

const toText = (html: string) => htmlToText(html, (address) => address)

it.each([
  ["words, with white space as one blank", "  Tom\n &amp; \t<b>Co</b> , Ltd  ", "Tom & Co , Ltd"],
  ["inline elements without blanks of their own", "un<i>believ</i>able", "unbelievable"],
  [
    "paragraphs apart, and blocks on lines",
    "<h1>Head</h1><p>One</p><div>two</div><div>three</div>",
    "Head\n\nOne\n\ntwo\nthree",
  ],
  ["a line break", "one<br>two<br/>three", "one\ntwo\nthree"],
  [
    "a list",
    "<p>These:</p><ul><li>one</li><li>two <b>bold</b></li></ul><p>Done",
    "These:\n\n * one\n * two bold\n\nDone",
  ],
  ["numbers that go on where the list begins", '<ol start="9"><li>nine<li>ten</ol>', " 9. nine\n 10. ten"],
  ["a list in a list", "<ul><li>a<ol><li>b</li><li>c</li></ol></li><li>d</li></ul>", " * a\n    1. b\n    2. c\n * d"],
  ["several paragraphs of an item", "<ul><li><p>a</p><p>b</p></li></ul>", " * a\n\n   b"],
  ["a table", "<table><tr><th>Name<th>Age</tr><tr><td>Ada</td><td>36</td></tr></table>", "Name | Age\nAda | 36"],
  ["code as it is", "<p>Run:</p><pre>if (a)\n  b()\n\nc()</pre>", "Run:\n\nif (a)\n  b()\n\nc()"],
  ["a quotation", "<blockquote><p>one</p><p>two</p></blockquote>", "> one\n\n> two"],
  ["a rule", "a<hr>b", `a\n\n${"-".repeat(40)}\n\nb`],
  ["an address behind its words", 'see <a href="/two">two</a>, there', "see two [/two], there"],
  ["an address once", '<a href="/two">/two</a>', "/two"],
  ["nothing of what is hidden", "a<script>b()</script><svg><title>c</title></svg><button>d</button>e", "ae"],
  ["what is left of a broken page", "</p></ul><li>a</b><p>b<div", " * a\n\n   b"],
])("writes %s", async (_, html, text) => {
  expect((await toText(html)).replace(/[ ]+$/gm, "")).toBe(text)
})

it("stays about as long as the page, however deep that is", async () => {
  const html = "<blockquote>x<ul><li>y".repeat(2_000)
  expect((await toText(html)).length).toBeLessThan(html.length * 5)
})
