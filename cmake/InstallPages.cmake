# Manual pages and completions of shells. The command writes them itself, from its help, when it is
# installed; one that was compiled for another machine cannot.
if(CMAKE_CROSSCOMPILING)
  return()
endif()

set(pages "${PROJECT_BINARY_DIR}/pages")
install(CODE "
  file(MAKE_DIRECTORY \"${pages}\")
  execute_process(COMMAND \"$<TARGET_FILE:tutti_cli>\" man -o \"${pages}/man1\")
  foreach(shell IN ITEMS bash zsh fish)
    execute_process(COMMAND \"$<TARGET_FILE:tutti_cli>\" completion \${shell}
      OUTPUT_FILE \"${pages}/tutti.\${shell}\")
  endforeach()")
install(DIRECTORY "${pages}/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}" OPTIONAL)
install(FILES "${pages}/tutti.bash" RENAME tutti OPTIONAL
        DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions")
install(FILES "${pages}/tutti.zsh" RENAME _tutti OPTIONAL
        DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions")
install(FILES "${pages}/tutti.fish" RENAME tutti.fish OPTIONAL
        DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d")
