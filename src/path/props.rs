//! Properties of paths as text.

use proptest::prelude::*;

use super::*;

/// Text of what forms are made from.
fn pathlike() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("..".to_owned()),
        Just("~".to_owned()),
        Just("file://".to_owned()),
        Just("%2e%2e".to_owned()),
        Just("\\".to_owned()),
        "[@\"'` /\\\\.~%]{1,3}",
        "[a-cé\u{301}\u{a0}]{1,3}",
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_text_holds_the_promises(asked in any::<String>(), home in prop::option::of("/[a-z]{0,5}")) {
        exercise(&asked, home.as_deref());
    }

    #[test]
    fn any_pathlike_text_holds_the_promises(asked in pathlike()) {
        exercise(&asked, Some("/home/u"));
        exercise(&asked, None);
    }

    #[test]
    fn a_normal_path_has_no_other_form(path in "/?[a-zA-Z0-9_.-]{1,8}(/[a-zA-Z0-9_. -]{0,6}[a-z]){0,4}") {
        prop_assert_eq!(forms(&path, Some("/home/u")), Forms::default());
    }

    #[test]
    fn joining_is_normalising(base in "(/[a-z.]{1,4}){0,4}", path in pathlike()) {
        let joined = join(&base, &path);
        prop_assert_eq!(join(&joined, "."), joined.clone());
        prop_assert_eq!(join("/elsewhere", &joined), joined);
    }

    #[test]
    fn what_is_inside_is_named_by_the_directory_and_the_rest(root in "(/[a-c]{1,2}){0,3}", path in pathlike()) {
        let root = join("/", &root);
        let path = join(&root, &path);
        if is_inside(&root, &path) && path != root {
            prop_assert_eq!(join(&root, relative(&root, &path)), path);
        }
    }
}
