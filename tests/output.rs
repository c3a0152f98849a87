//! What tools write to a terminal, as they were caught (`script -qc`) or, where that takes a network, as they write it; and
//! what is shown of it.
#![cfg(not(target_arch = "wasm32"))]

use expect_test::{Expect, expect};
use tackroom::text::accumulator::{Accumulator, Stream};
use tackroom::text::truncate::Limits;

fn check(output: &str, want: Expect) {
    let (mut whole, mut cut) = (Accumulator::new(Limits::default()), Accumulator::new(Limits::default()));
    whole.push(output.as_bytes(), Stream::Stdout);
    for part in output.as_bytes().chunks(7) {
        cut.push(part, Stream::Stdout);
    }
    whole.finish();
    cut.finish();
    assert_eq!(cut.snapshot(), whole.snapshot());
    want.assert_eq(&whole.snapshot().content);
    assert_eq!(whole.snapshot().content.matches('\n').count(), output.matches('\n').count());
}

#[test]
fn ls_in_colour() {
    check(
        "total 12\r\ndrwxr-xr-x 3 root root 4096 Nov 30 19:57 \x1B[0m\x1B[01;34m.\x1B[0m\r\n\
         -rw-r--r-- 1 root root    0 Nov 30 19:57 f.txt\r\n\
         -rwxr-xr-x 1 root root    0 Nov 30 19:57 \x1B[01;32mx.sh\x1B[0m\r\n",
        expect![[r#"
            total 12
            drwxr-xr-x 3 root root 4096 Nov 30 19:57 .
            -rw-r--r-- 1 root root    0 Nov 30 19:57 f.txt
            -rwxr-xr-x 1 root root    0 Nov 30 19:57 x.sh
        "#]],
    );
}

#[test]
fn curl_and_wget() {
    check(
        "  % Total    % Received\r\n                                 Dload  Upload\r\n\
         \r  0     0    0     0\r 41 1200k   41 1200k\r100 2929k  100 2929k\r\n",
        expect![[r#"
              % Total    % Received
                                             Dload  Upload
            100 2929k  100 2929k
        "#]],
    );
    check(
        "Saving to: ‘out’\r\n\r\n\
         \rout                    0%[                    ]       0  --.-KB/s               \
         \rout                  100%[===================>]   2.86M  --.-KB/s    in 0.004s  \r\n\r\n\
         2026-11-30 19:57:45 (794 MB/s) - ‘out’ saved [3000000/3000000]\r\n",
        expect![[r#"
            Saving to: ‘out’

            out                  100%[===================>]   2.86M  --.-KB/s    in 0.004s  

            2026-11-30 19:57:45 (794 MB/s) - ‘out’ saved [3000000/3000000]
        "#]],
    );
}

#[test]
fn git_clone() {
    check(
        "Cloning into 'clone'...\r\nremote: Enumerating objects: 575, done.\x1B[K\r\n\
         remote: Counting objects:   0% (1/575)\x1B[K\rremote: Counting objects:  50% (288/575)\x1B[K\r\
         remote: Counting objects: 100% (575/575)\x1B[K\rremote: Counting objects: 100% (575/575), done.\x1B[K\r\n\
         Receiving objects:   0% (1/575)\rReceiving objects: 100% (575/575)\r\
         Receiving objects: 100% (575/575), 1.2 MiB | 3.4 MiB/s, done.\r\n",
        expect![[r#"
            Cloning into 'clone'...
            remote: Enumerating objects: 575, done.
            remote: Counting objects: 100% (575/575), done.
            Receiving objects: 100% (575/575), 1.2 MiB | 3.4 MiB/s, done.
        "#]],
    );
}

#[test]
fn apt() {
    check(
        "\rReading package lists... 0%\r\rReading package lists... 98%\r\rReading package lists... Done\r\r\n\
         \rReading state information... 0% \r\rReading state information... Done\r\r\n\
         \x1B7\x1B[0;23r\x1B8\x1B[1A\x1B7\x1B[24;0f\x1B[42m\x1B[30mProgress: [  0%]\x1B[49m\x1B[39m [....] \x1B8\
         Preparing to unpack .../hello_2.10 ...\r\r\n\
         \x1B7\x1B[24;0f\x1B[42m\x1B[30mProgress: [ 50%]\x1B[49m\x1B[39m [##..] \x1B8Setting up hello (2.10) ...\r\r\n\
         \x1B7\x1B[24;0f\x1B[42m\x1B[30mProgress: [100%]\x1B[49m\x1B[39m [####] \x1B8\x1B7\x1B[0;24r\x1B8\x1B[1A\x1B[J",
        expect![[r#"
            Reading package lists... Done
            Reading state information... Done
            Preparing to unpack .../hello_2.10 ...
            Setting up hello (2.10) ...
        "#]],
    );
}

#[test]
fn pip() {
    check(
        "Collecting requests\r\n  Downloading requests-2.32.whl (64 kB)\r\n\
         \x1B[?25l     \x1B[90m━━━━━━\x1B[0m \x1B[32m0.0/64.9 kB\x1B[0m \x1B[31m?\x1B[0m eta \x1B[36m-:--:--\x1B[0m\
         \r\x1B[2K     \x1B[90m━━━━━━\x1B[0m \x1B[32m64.9/64.9 kB\x1B[0m \x1B[31m2.1 MB/s\x1B[0m eta \x1B[36m0:00:00\x1B[0m\r\n\
         \x1B[?25hInstalling collected packages: requests\r\n",
        expect![[r#"
            Collecting requests
              Downloading requests-2.32.whl (64 kB)
                 ━━━━━━ 64.9/64.9 kB 2.1 MB/s eta 0:00:00
            Installing collected packages: requests
        "#]],
    );
}

#[test]
fn npm_and_a_spinner_on_other_lines() {
    check(
        "\x1B[1G\x1B[0K⠙\x1B[1G\x1B[0K⠹\x1B[1G\x1B[0K\r\nadded 1 package in 2s\r\n\x1B[1G\x1B[0K⠸\x1B[1G\x1B[0K",
        expect![[r#"

            added 1 package in 2s
        "#]],
    );
    // Lines above are redrawn: what was shown stays, and so does what is shown.
    check(
        "✓ one\n⠋ two\n\x1B[2K\x1B[1A\x1B[2K\x1B[1A\x1B[2K\x1B[G✓ one\n✓ two\n",
        expect![[r#"
            ✓ one
            ⠋ two
            ✓ one
            ✓ two
        "#]],
    );
}

#[test]
fn cargo() {
    check(
        "+ cargo build\n\x1B[1m\x1B[32m    Updating\x1B[0m crates.io index\n\
         \x1B[K\x1B[1m\x1B[36m    Building\x1B[0m [====>      ] 1/3: memchr\r\
         \x1B[K\x1B[1m\x1B[32m   Compiling\x1B[0m memchr v2.8.3\n\
         \x1B[1m\x1B[36m    Building\x1B[0m [========>  ] 2/3: serde\r\
         \x1B[K\x1B[1m\x1B[32m    Finished\x1B[0m `dev` profile in 1.2s\n",
        expect![[r#"
            + cargo build
                Updating crates.io index
               Compiling memchr v2.8.3
                Finished `dev` profile in 1.2s
        "#]],
    );
}

/// A bar of tqdm that leaves nothing, and one of a shell loop that blanks the line.
#[test]
fn bars_that_clear_themselves() {
    check(
        "  0%|          | 0/3\r 67%|██████▋   | 2/3\r                    \rall done\n\
         working |\rworking /\r         \r\n",
        expect![[r#"
            all done
                     
        "#]],
    );
}

/// Colours of a test runner, a link, a title; and a line of a TUI that starts over.
#[test]
fn a_test_runner() {
    check(
        "\x1B]0;vitest\x07\x1B[1m\x1B[46m RUN \x1B[49m\x1B[22m \x1B[36mv3.2\x1B[39m \x1B[90m/app\x1B[39m\n\
         \x1B[32m✓\x1B[39m \x1B]8;;file:///app/a.test.ts\x1B\\a.test.ts\x1B]8;;\x1B\\ \x1B[2m(\x1B[22m3 tests\x1B[2m)\x1B[22m\n\
         \x1B[?2026h\x1B[s waiting \x1B[u\x1B[0J\x1B[?2026l\x1B[31mFAIL\x1B[39m b.test.ts\n",
        expect![[r#"
             RUN  v3.2 /app
            ✓ a.test.ts (3 tests)
            FAIL b.test.ts
        "#]],
    );
}
