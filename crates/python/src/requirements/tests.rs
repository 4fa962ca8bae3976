//! What requirements are accepted, and which are the same.

use super::*;

fn read(listed: &[&str]) -> Requirements {
    let listed: Vec<String> = listed.iter().map(|line| (*line).to_owned()).collect();
    Requirements::read(&listed, None, Path::new("/"), true).expect("readable requirements")
}

fn from(file: &Path) -> Result<Requirements, RequirementsError> {
    Requirements::read(&[], Some(file), file.parent().expect("a folder"), false)
}

#[test]
fn the_framework_is_pinned_where_nobody_names_one() {
    assert_eq!(read(&[]).lines(), ["cpex==0.1.4"]);
    assert_eq!(
        read(&["cpex-pii-filter==0.3.9"]).lines(),
        ["cpex-pii-filter==0.3.9", "cpex==0.1.4"]
    );
    assert_eq!(read(&["CPEX >= 0.1.4"]).lines(), ["cpex>=0.1.4"]);
    assert_eq!(
        read(&["mcp_contextforge.gateway==1.0.7"]).lines(),
        ["mcp-contextforge-gateway==1.0.7"]
    );
    assert_eq!(
        read(&["git+https://example.org/x.git#egg=cpex"]).lines(),
        ["git+https://example.org/x.git#egg=cpex"]
    );
    assert_eq!(
        read(&["cpex @ https://example.org/cpex.tgz"]).lines(),
        ["cpex @ https://example.org/cpex.tgz"]
    );
}

#[test]
fn sets_that_say_the_same_are_the_same() {
    let one = read(&[
        "Foo_Bar [x] >=1, <2 ; python_version  < '4'  # why",
        "",
        "zip",
        "cpex",
    ]);
    let other = read(&[
        "cpex",
        "zip",
        "foo-bar[x]>=1,<2;python_version < '4'",
        "zip",
    ]);
    assert_eq!(
        one.lines(),
        ["cpex", "foo-bar[x]>=1,<2; python_version < '4'", "zip"]
    );
    assert_eq!(one, other);
    assert_ne!(one.digest(), read(&["cpex", "zip"]).digest());
}

#[test]
fn an_option_is_no_requirement() {
    let error = Requirements::read(&["--pre".into()], None, Path::new("/"), true).unwrap_err();
    assert_eq!(error.to_string(), "not a requirement: --pre");
}

#[test]
fn a_plain_file_counts_as_its_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("requirements.txt");
    std::fs::write(
        &file,
        "# what we need\nZip\n\ncpex ==0.1.4 \\\n  # pinned\n",
    )
    .expect("a file");
    let from_file = from(&file).expect("readable");
    assert_eq!(
        from_file,
        Requirements::read(
            &["cpex==0.1.4".into(), "zip".into()],
            None,
            folder.path(),
            false
        )
        .unwrap()
    );
}

#[test]
fn a_file_with_options_is_handed_on_and_hashed_with_what_it_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("requirements.txt");
    std::fs::write(&file, "-r more/other.txt\nzip\n").expect("a file");
    std::fs::create_dir(folder.path().join("more")).expect("a folder");
    std::fs::write(folder.path().join("more/other.txt"), "cpex\n").expect("a file");
    let one = from(&file).expect("readable");
    assert_eq!(
        one.arguments(),
        ["-r".to_owned(), file.display().to_string()]
    );
    std::fs::write(folder.path().join("more/other.txt"), "cpex==0.1.4\n").expect("a file");
    let other = from(&file).expect("readable");
    assert_ne!(one.digest(), other.digest());
    std::fs::remove_file(folder.path().join("more/other.txt")).expect("removable");
    assert!(matches!(from(&file), Err(RequirementsError::Read { .. })));
}

#[test]
fn a_local_package_is_hashed_by_content() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = || Requirements::read(&["./cpex".into()], None, folder.path(), true);
    assert!(matches!(read(), Err(RequirementsError::Read { .. })));
    std::fs::create_dir(folder.path().join("cpex")).expect("a folder");
    std::fs::write(folder.path().join("cpex/a.py"), "a = 1").expect("a file");
    let one = read().expect("readable");
    std::fs::write(folder.path().join("cpex/a.py"), "a = 2").expect("a file");
    assert_ne!(one.digest(), read().expect("readable").digest());
}

#[test]
fn what_builds_is_refused_unless_it_is_allowed() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("folder")).expect("a folder");
    std::fs::create_dir(folder.path().join("folder.whl")).expect("a folder");
    std::fs::write(folder.path().join("a-1.tar.gz"), "").expect("a file");
    std::fs::write(folder.path().join("a-1-py3-none-any.whl"), "").expect("a file");
    let read = |line: &str, allow_build| {
        Requirements::read(&[line.into()], None, folder.path(), allow_build)
    };
    for line in [
        "./folder",
        "./folder.whl",
        "./folder/../folder",
        "./a-1.tar.gz",
        "a-1.tar.gz",
        "git+https://example.org/x.git#egg=x",
        "git+https://example.org/x.whl",
        "x @ git+https://example.org/x.git",
        "x @ https://example.org/x-1.zip",
        "x @ https://example.org/x-1.zip#egg=x.whl",
        "x @ https://example.org/x-1.zip?x.whl",
        "https://example.org/x-1.tar.gz",
        "https://example.org/x-1.tar.gz; python_version > '3'",
    ] {
        let refused = read(line, false).expect_err(line);
        assert!(
            matches!(refused, RequirementsError::Builds(_)),
            "{line}: {refused}"
        );
        assert!(
            refused.hint().contains("allow_build: true"),
            "{}",
            refused.hint()
        );
        read(line, true).expect(line);
    }
    for line in [
        "x",
        "x[y]>=1; python_version > '3'",
        "./a-1-py3-none-any.whl",
        "./a-1-py3-none-any.whl[extra]",
        "x @ https://example.org/x-1-py3-none-any.whl",
        "https://example.org/x-1-py3-none-any.whl#sha256=00",
    ] {
        read(line, false).expect(line);
    }
    let (with, without) = (read("x", true), read("x", false));
    assert_ne!(with.expect("x").digest(), without.expect("x").digest());
}

#[test]
fn a_file_cannot_allow_builds_either() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("requirements.txt");
    let read = |text: &str, allow_build| {
        std::fs::write(&file, text).expect("a file");
        Requirements::read(&[], Some(&file), folder.path(), allow_build)
    };
    for text in [
        "--no-binary :all:\nx",
        "--no-bin x\nx",
        "--only-binary=:none:",
        "-e git+https://example.org/x.git#egg=x",
        "--editable git+https://example.org/x.git#egg=x",
        "x --config-settings=a=b",
        "x --global-option=a",
        "-r https://example.org/requirements.txt",
        "-chttps://example.org/constraints.txt",
        "x @ git+https://example.org/x.git",
        // A comment hides nothing from an installer, whatever ends its line.
        "# x \\\n--no-binary x",
        "# x\u{c}--no-binary x",
        "x # y \\\n--no-binary x",
        "\u{feff}--no-binary x",
    ] {
        let refused = read(text, false).expect_err(text);
        assert!(
            matches!(refused, RequirementsError::Builds(_)),
            "{text:?}: {refused}"
        );
        read(text, true).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    }
    std::fs::write(folder.path().join("other.txt"), "--no-binary x\n").expect("a file");
    let refused = read("-c other.txt\n", false).expect_err("an included file");
    assert!(matches!(refused, RequirementsError::Builds(_)), "{refused}");
    let plain = "--index-url https://example.org/simple\n--no-index\n-f wheels\n--pre\nx\n";
    read(plain, false).expect("where packages come from is no build");
}

#[test]
fn another_kind_of_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("pylock.toml", "lock-version = '1.0'\n"),
        ("requirements.txt", "# -*- coding: utf-7 -*-\nx\n"),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("a file");
        let refused = from(&file).expect_err(name);
        assert!(
            matches!(refused, RequirementsError::NoRequirements { .. }),
            "{name}: {refused}"
        );
    }
}

#[test]
fn where_one_has_a_hash_all_must() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("requirements.txt");
    std::fs::write(&file, "zip==1 --hash=sha256:00\n").expect("a file");
    let refused = from(&file).expect_err("the framework has no hash");
    assert_eq!(
        refused.to_string(),
        "it has no hash, and the requirements file gives hashes: cpex==0.1.4"
    );
    std::fs::write(
        &file,
        "zip==1 \\\n  --hash=sha256:00\ncpex==0.1.4 --hash=sha256:01\n",
    )
    .expect("a file");
    let read = from(&file).expect("all have one");
    assert!(read.hashed());
    assert_eq!(read.given(), ["cpex==0.1.4", "zip==1"]);
    let listed = Requirements::read(&["a".into()], Some(&file), folder.path(), false);
    assert!(matches!(listed, Err(RequirementsError::Unhashed(line)) if line == "a"));
}

#[test]
fn listed_paths_stay_where_they_are_beside_a_file_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("more")).expect("a folder");
    let file = folder.path().join("more/requirements.txt");
    std::fs::write(&file, "--no-index\n").expect("a file");
    std::fs::write(folder.path().join("cpex-1-py3-none-any.whl"), "").expect("a file");
    let listed = ["./cpex-1-py3-none-any.whl".to_owned(), "cpex".to_owned()];
    let read = Requirements::read(&listed, Some(&file), folder.path(), false);
    let wheel = folder.path().join("./cpex-1-py3-none-any.whl");
    let arguments = read.expect("readable").arguments();
    assert_eq!(
        arguments[..2],
        [wheel.to_string_lossy().into_owned(), "cpex".to_owned()]
    );
}
