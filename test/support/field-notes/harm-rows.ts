import type { Rows } from "./result-rows.ts"

/** Harm that a model, or text that it read, could do through what a person is asked, and is not asked. */
export const HARM_ROWS: Rows = {
  F2: [
    [
      "test/field-notes/f2-unasked-commands.slow.test.ts",
      "F2. Shell text that the reader takes for harmless runs nothing unasked",
      "F2. In a folder of the kernel everything is asked about, and at the root what reads all files below it",
      "F2. A program of the workspace is not the one of the table, wherever PATH has it",
      "F2. Whatever runs unasked changes nothing, sends nothing and reads no key",
      "F2. What counts as plain words is what every shell makes of them",
    ],
    [
      "test/field-notes/f2-judged-once.test.ts",
      "F2. A command that one process has judged harmless runs as that very program in any other, whatever its PATH",
      "F2. So does one that a rule allows by its effects",
      "F2. What is no longer harmless when its turn comes is refused, and no shell runs it",
      "F2. A program that is missing where the command runs is named, and nothing runs in its place",
      "F2. A model is not told of the field that says so, and allows itself nothing by it",
    ],
  ],
  F3: [
    [
      "test/field-notes/f3-hostile-repository.slow.test.ts",
      "F3. In a repository whose own configuration names programs, `%s` runs none of them",
      "F3. The same repository runs its programs where nobody takes care",
      "F3. Git writes nothing into the repository that it only reads",
      "F3. A filter that cannot be switched off is not run: the command is refused",
    ],
  ],
  F4: [
    [
      "test/field-notes/f4-whole-question.test.ts",
      "F4. A command that contains what looks like a secret is shown whole in the question",
      "F4. The inbox shows such a command whole, too, and still hides keys",
      "F4. A variable whose name is that of a secret hides no command either",
      "F4. A value that the process has learned from a command's variables hides no later command",
      "F4. Code in a diff is shown whole",
      "F4. What is known to be a secret stays hidden: the person's own values, and the shapes of keys",
      "F4. Characters that act on a terminal, or turn text around, are shown as codes",
      "F4. Characters that show nothing are shown as codes",
      "F4. No line of a command passes for one of the question's own, in the inbox and beside the task",
      "F4. A long command is shown whole in the inbox, and many empty lines are one line with their number",
    ],
    [
      "test/field-notes/f4-long-question.slow.test.ts",
      "F4. Empty lines scroll no part of a command out of the question",
      "F4. A command that is longer than the screen is answered yes only once all of it was shown",
      "F4. In a chat, too, no line of a command passes for one of the question's own",
    ],
  ],
  F5: [
    [
      "test/field-notes/f5-titles.test.ts",
      "F5. A task's title chosen by the model never stands in the place of the command it asks for",
      "F5. A title that the call gave itself is not repeated",
    ],
  ],
  F6: [
    [
      "test/field-notes/f6-always.test.ts",
      'F6. "Always" for `git push …` does not cover `--receive-pack=…`',
      'F6. "Always" for `%s` does not cover `%s`',
      'F6. "Always" covers another message of a commit, and other names of tests',
      'F6. "Always" for a compound command is not "every command"',
      "F6. A rule for effects `write` does not cover options that run programs",
      "F6. An exact rule does not cover other variables of `env`",
    ],
  ],
  F7: [
    [
      "test/field-notes/f2-unasked-commands.slow.test.ts",
      "F2. Shell text that the reader takes for harmless runs nothing unasked",
      "F2. In a folder of the kernel everything is asked about, and at the root what reads all files below it",
      "F2. Whatever runs unasked changes nothing, sends nothing and reads no key",
    ],
  ],
  F9: [
    [
      "test/field-notes/f9-hostile-text.test.ts",
      "F9. Four megabytes of %j do not hold the process for longer than plain text would",
      "F9. A private key is found between any number of beginnings and ends",
    ],
  ],
  F11: [
    [
      "test/field-notes/f11-drafts.slow.test.ts",
      "F11. A person's half-typed draft is not taken as the answer to a question that appeared meanwhile",
      "F11. Keys of the moment in which a question appears answer it neither: they are kept, too",
      "F11. The rest of a paste that began before a question is no answer to it, however late it comes",
    ],
  ],
}
